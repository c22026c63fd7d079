// Tensor: an array that remembers where it came from.
#pragma once

#include <utility>
#include <vector>

#include "engine/array/array.h"
#include "engine/autograd/node.h"

namespace mote {

/// An array that remembers where it came from. Copying shares both. Without a tracked input it is just the array.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Array value) : value_(std::move(value)) {}
  Tensor(Array value, NodePtr node) : value_(std::move(value)), node_(std::move(node)) {}
  /// One number, rank 0.
  template <Number S>
  Tensor(S value) : value_(value) {}

  bool defined() const { return value_.defined(); }
  const Array& array() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  Index size(int axis) const { return value_.shape()[axis]; }
  int dim() const { return value_.rank(); }
  Index numel() const { return value_.numel(); }
  real item() const { return value_.item(); }
  std::vector<real> to_vector() const { return value_.to_vector(); }

  /// Whether gradients flow to this tensor.
  bool requires_grad() const { return node_ != nullptr; }
  /// Makes this tensor a leaf whose gradient backward() keeps (or, with false, a plain one again). Copies made before
  /// are not affected. Errors: it is the result of recorded ops; detach() it first.
  Tensor& requires_grad_(bool on = true) &;
  Tensor requires_grad_(bool on = true) && { return requires_grad_(on); }
  /// The gradient that backward() left here, an undefined Array before. Kept for leaves, and for results after
  /// retain_grad(). Gradients of several backward() calls add up until zero_grad().
  const Array& grad() const;
  void zero_grad();
  /// Asks backward() to keep the gradient of this intermediate result. Errors: it is not tracked.
  void retain_grad();
  /// The same numbers without a past.
  Tensor detach() const { return Tensor(value_); }

  /// d(this)/d(leaf) for every leaf this was made from, added to the leaves' grad(). The recorded graph is consumed:
  /// each node's rule, inputs and gradient are dropped as soon as they are used. Errors: not tracked; more than one
  /// element (pass dy, of this shape); a graph that an earlier backward consumed.
  void backward() const;
  void backward(const Array& dy) const;

  const NodePtr& node() const { return node_; }

 private:
  Array value_;
  NodePtr node_;
};

}  // namespace mote
