// Shown, a value inside an op that is computed only when an observer wants to see it.
#pragma once

#include "engine/autograd/op.h"

namespace mote {

/// An op fills it through mutate(), if that is not null, and then calls show(): attention's weights.
class Shown {
 public:
  Shown(const Op& op, const char* name, const Shape& shape) : op_(op), name_(name) {
    if (op.wants(name)) value_ = Array::zeros(shape);
  }
  /// Where to write the elements, zeros before; null when no observer wants them.
  real* mutate() { return value_.defined() ? value_.mutate() : nullptr; }
  void show() const {
    if (value_.defined()) op_.show(name_, value_);
  }

 private:
  const Op& op_;
  const char* name_;
  Array value_;
};

}  // namespace mote
