// Tensor: an array that remembers how it was computed. NoGrad: a scope in which nothing is remembered.
#pragma once

#include <utility>
#include <vector>

#include "engine/array/array.h"
#include "engine/autograd/diagnose.h"
#include "engine/base/context.h"

namespace mote {

class Mask;

/// An array with its recorded graph. Copying shares both. Without a tracked input it is just the array.
class Tensor : public TorchMethods {
 public:
  Tensor() = default;
  Tensor(Array value) : value_(std::move(value)) {}
  Tensor(Array value, NodePtr node) : value_(std::move(value)), node_(std::move(node)) {}
  /// A scalar, rank 0.
  template <Number S>
  Tensor(S value) : value_(value) {}
  template <std::same_as<Mask> M>
  __attribute__((unavailable("a mask is no number: write tensor(mask) for 0 and 1"))) Tensor(const M&);

  bool defined() const { return value_.defined(); }
  const Array& array() const& { return value_; }
  Array array() && { return std::move(value_); }
  const Shape& shape() const& { return value_.shape(); }
  Shape shape() && { return value_.shape(); }
  Index size(Integer axis) const { return value_.shape()[axis]; }
  int dim() const { return value_.rank(); }
  Index numel() const { return value_.numel(); }
  real item() const { return value_.item(); }
  std::vector<real> to_vector() const { return value_.to_vector(); }

  /// Whether gradients flow to this tensor.
  bool requires_grad() const { return node_ != nullptr; }
  /// Makes this tensor a leaf whose gradient backward() keeps (or, with false, an untracked one again). Earlier copies
  /// are not affected. Errors: it is the result of recorded ops; detach() it first.
  Tensor& requires_grad_(Flag on = true) &;
  Tensor requires_grad_(Flag on = true) && { return requires_grad_(on); }
  /// The gradient from backward(); undefined before, and for an untracked tensor. Gradients of several backward() calls
  /// accumulate until zero_grad(). A leaf's is contiguous. Errors: a result without retain_grad(), which keeps none.
  const Array& grad() const&;
  Array grad() && { return std::as_const(*this).grad(); }
  void zero_grad();
  /// Asks backward() to keep the gradient of this intermediate result. Errors: it is not tracked; backward() has run.
  void retain_grad();
  __attribute__((unavailable("retain_grad() changes the tensor: declare it as Tensor, not const Tensor"))) void
  retain_grad() const;
  /// The same values without the graph.
  Tensor detach() const { return Tensor(value_); }
  __attribute__((unavailable("tensors never change in place: write y = x, or x.detach() without the graph"))) Tensor
  clone() const;

  /// Adds d(this)/d(leaf) to the grad() of every leaf this was computed from. Consumes the recorded graph: each node's
  /// rule, inputs and gradient are dropped as soon as they are used. Errors: not tracked; more than one element (pass
  /// dy, of this shape); a graph that an earlier backward consumed.
  void backward() const;
  void backward(const Array& dy) const;

  const NodePtr& node() const& { return node_; }
  NodePtr node() && { return std::move(node_); }
  static inline const Array no_array;  ///< what a reference to an array refers to where there is none

 private:
  Array value_;
  NodePtr node_;
};

/// While one lives, this thread records nothing: results are plain arrays. Nests; does not affect dropout. Give it a
/// name, const NoGrad no_grad; without one it ends immediately.
class NoGrad {
 public:
  [[nodiscard]] NoGrad() = default;
  static bool active() { return thread_context.no_grad; }

 private:
  During<bool> during_{thread_context.no_grad, true};
};

}  // namespace mote
