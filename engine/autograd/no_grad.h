// NoGrad: a scope in which nothing is recorded.
#pragma once

#include <utility>

#include "engine/base/context.h"

namespace mote {

/// While one lives, this thread records nothing: results are plain arrays. Nests; does not affect dropout. Give it a
/// name, const NoGrad no_grad; without one it ends immediately.
class NoGrad {
 public:
  [[nodiscard]] NoGrad() : before_(std::exchange(thread_context.no_grad, true)) {}
  ~NoGrad() { thread_context.no_grad = before_; }
  NoGrad(const NoGrad&) = delete;
  static bool active() { return thread_context.no_grad; }

 private:
  bool before_;
};

}  // namespace mote
