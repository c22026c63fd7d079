// Parameter, a trainable array that modules, tied weights and optimizers share.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "engine/autograd/tensor.h"

namespace mote {

/// A trainable array. A Parameter is a handle to a cell, which holds the value, the gradient and the trainable flag.
/// Copies of the handle share the cell, and moving a handle copies it. So a module may be moved, and tied weights and
/// optimizers share one cell. In an op, a Parameter acts as its value.
class Parameter {
 public:
  struct Cell {
    Array value;
    NodePtr node;
    bool trainable = true;
    Cell(Array v) : value(std::move(v)), node(Node::make_leaf("parameter", value.shape())) {}
  };

  Parameter() = default;
  /// A new parameter with this value. Errors: a value that is not defined.
  explicit Parameter(Array value) {
    value.require("parameter");
    cell_ = std::make_shared<Cell>(std::move(value));
  }
  template <std::same_as<Tensor> T>
  __attribute__((unavailable("a Parameter holds an Array: write Parameter(x.array())"))) explicit Parameter(const T&);
  Parameter(const Parameter&) = default;
  Parameter& operator=(const Parameter&) = default;

  /// A Parameter that is not defined, such as the bias of a Linear without bias, gives an undefined Tensor.
  operator Tensor() const { return cell_ ? Tensor(cell_->value, node()) : Tensor(Array::unfilled()); }
  bool defined() const { return cell_ != nullptr; }
  const Array& value() const& { return cell().value; }
  Array value() && { return cell().value; }
  const Array& array() const& { return cell().value; }
  Array array() && { return cell().value; }
  const Shape& shape() const& { return cell().value.shape(); }
  Shape shape() && { return cell().value.shape(); }
  Index size(Integer axis) const { return shape()[axis]; }
  int dim() const { return shape().rank(); }
  Index numel() const { return cell().value.numel(); }
  __attribute__((unavailable("write numel()"))) Index nelement() const;
  /// The leaf node that receives gradients; null while the parameter is frozen.
  const NodePtr& node() const& { return cell_ && cell_->trainable ? cell_->node : no_node_; }
  NodePtr node() && { return std::as_const(*this).node(); }
  /// Replaces the value. A graph that was recorded before keeps the old value. Errors: a value of another shape.
  void set(Array value) const {
    require("set", "", value);
    cell_->value = std::move(value);
  }
  template <std::same_as<Tensor> T>
  __attribute__((unavailable("a Parameter holds an Array: write p.set(p.value() - p.grad() * 0.1), or x.array()"))) void
  set(const T&) const;
  /// Returns a pointer to the elements of the value, through which an optimizer writes. The elements are copied first
  /// if anything else (a live graph, a saved copy) holds them.
  real* mutate() const& { return cell().value.mutate(); }
  __attribute__((unavailable("the parameter may die with the temporary: give it a name first"))) real* mutate() &&;
  const Array& grad() const& { return cell().node->grad; }
  Array grad() && { return cell().node->grad; }
  /// Returns a pointer for writing to the elements of the gradient. The elements are copied first if anything else
  /// holds them. Errors: there is no gradient.
  real* mutate_grad() const& { return cell().node->grad.mutate(); }
  __attribute__((unavailable("the parameter may die with the temporary: give it a name first"))) real* mutate_grad() &&;
  /// Replaces the gradient. Errors: a gradient of another shape.
  void set_grad(const Array& grad) const {
    require("set_grad", "a gradient of ", grad);
    cell_->node->grad = grad.contiguous();
  }
  void zero_grad() const { cell().node->grad = Array(); }
  /// Whether the parameter is trainable, not frozen. A frozen parameter acts as a constant in ops, so it gets no
  /// gradient and no optimizer step.
  bool trainable() const { return cell().trainable; }
  void set_trainable(Flag on) const { cell().trainable = on; }
  /// Whether this Parameter and `other` are handles to the same cell.
  bool same_as(const Parameter& other) const { return cell_ == other.cell_; }
  const Cell* id() const { return cell_.get(); }

 private:
  void require(const char* who, const char* what, const Array& given) const {
    given.require(who);
    check_in(who, given.shape() == shape(), "a parameter of shape ", shape(), " cannot take ", what, "shape ",
             given.shape());
  }
  Cell& cell() const {
    check_in("parameter", cell_ != nullptr, Array::unfilled().missing(),
             " (or is it the bias of a layer that has none?)");
    return *cell_;
  }
  static inline const NodePtr no_node_;
  std::shared_ptr<Cell> cell_;
};

}  // namespace mote
