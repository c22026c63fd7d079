// Tensor: an array that remembers how it was computed. NoGrad: a scope in which nothing is remembered.
#pragma once

#include <utility>
#include <vector>

#include "engine/array/array.h"
#include "engine/autograd/diagnose.h"
#include "engine/base/context.h"

namespace mote {

class Mask;

/// An array with its recorded graph. Copies share the array and the graph. A tensor is tracked if gradients flow to it.
/// A tensor that was computed only from untracked tensors has no graph.
class Tensor : public TorchMethods {
 public:
  Tensor() = default;
  Tensor(Array value) : value_(std::move(value)) {}
  Tensor(Array value, NodePtr node) : value_(std::move(value)), node_(std::move(node)) {}
  /// A scalar, a tensor of rank 0.
  template <Number S>
  Tensor(S value) : value_(value) {}
  template <std::same_as<Mask> M>
  __attribute__((unavailable("a mask is no number: write tensor(mask) for 0 and 1"))) Tensor(const M&);

  Tensor(const Tensor&) = default;
  Tensor(Tensor&&) noexcept = default;
  ~Tensor() = default;
  Tensor& operator=(const Tensor&) & = default;
  Tensor& operator=(Tensor&&) & noexcept = default;
  /// index(x, {0}) = 1 is a compile error, because the result of an op is a new tensor. The assignment would be lost.
  template <class T>
  __attribute__((unavailable("a selection is a new tensor: write x = index_put(x, {0}, 1), or x = where(mask, 1, x)")))
  Tensor&
  operator=(T&&) &&;

  bool defined() const { return value_.defined(); }
  const Array& array() const& { return value_; }
  Array array() && { return std::move(value_); }
  const Shape& shape() const& { return value_.shape(); }
  Shape shape() && { return value_.shape(); }
  Index size(Integer axis) const { return value_.shape()[axis]; }
  int dim() const { return value_.rank(); }
  Index numel() const { return value_.numel(); }
  real item() const { return value_.item(); }
  // Deleted and not unavailable, because std::variant tries these conversions. Compilers show the line with its
  // comment.
  template <Number N>
  operator N() const = delete;              // a tensor is no number: write x.item() for its only element
  explicit operator bool() const = delete;  // a tensor is no bool: write x.item() != 0 for its only element
  std::vector<real> to_vector() const { return value_.to_vector(); }

  /// Whether gradients flow to this tensor.
  bool requires_grad() const { return node_ != nullptr; }
  /// Makes this tensor a leaf, whose gradient backward() keeps. With false, the tensor becomes untracked again.
  /// Earlier copies are not affected. Errors: the tensor is the result of recorded ops; detach() it first.
  Tensor& requires_grad_(Flag on = true) &;
  Tensor requires_grad_(Flag on = true) && { return requires_grad_(on); }
  /// The gradient from backward(). It is undefined before backward(), and for an untracked tensor. Gradients of
  /// several backward() calls accumulate until zero_grad(). The gradient of a leaf is contiguous. Errors: the result
  /// of an op keeps no gradient without retain_grad().
  const Array& grad() const&;
  Array grad() && { return std::as_const(*this).grad(); }
  void zero_grad();
  /// Asks backward() to keep the gradient of this intermediate result. Errors: the tensor is not tracked; backward()
  /// has already run.
  void retain_grad();
  __attribute__((unavailable("retain_grad() changes the tensor: declare it as Tensor, not const Tensor"))) void
  retain_grad() const;
  /// The same values without the graph.
  Tensor detach() const { return Tensor(value_); }
  __attribute__((unavailable("tensors never change in place: write y = x, or x.detach() without the graph"))) Tensor
  clone() const;

  /// Adds d(this)/d(leaf) to the grad() of every leaf from which this tensor was computed. This consumes the recorded
  /// graph, because each node's rule, inputs and gradient are freed as soon as they have been used. dy is the gradient
  /// of this tensor and has its shape. Without dy the tensor must have one element, and dy is 1. Errors: an untracked
  /// tensor; more than one element without dy; a dy of another shape; a graph that an earlier backward consumed.
  void backward() const;
  void backward(const Array& dy) const;
  template <std::same_as<Tensor> T>
  void backward(const T& dy) const {
    backward(dy.array());
  }

  const NodePtr& node() const& { return node_; }
  NodePtr node() && { return std::move(node_); }
  static inline const Array no_array;  ///< an undefined array, to which functions may return a reference

 private:
  Array value_;
  NodePtr node_;
};

/// While a NoGrad lives, this thread records no graph, so results are untracked. Scopes may nest. Dropout is not
/// affected. Give a NoGrad a name, as in const NoGrad no_grad, because one without a name ends immediately.
class NoGrad {
 public:
  [[nodiscard]] NoGrad() = default;
  static bool active() { return thread_context.no_grad; }

 private:
  During<bool> during_{thread_context.no_grad, true};
};

}  // namespace mote
