// Parameter, a trainable array that modules, ties and optimizers share.
#pragma once

#include <concepts>
#include <memory>
#include <utility>

#include "engine/autograd/tensor.h"

namespace mote {

/// A trainable array: a handle to one cell {value, grad, trainable}. Copies of the handle are the same parameter, so a
/// module may move, and ties and optimizers share the cell. In an op it acts as its value.
class Parameter {
 public:
  struct Cell {
    Array value;
    NodePtr node;
    bool trainable = true;
    Cell(Array v);
    ~Cell();
  };

  Parameter() = default;
  /// Errors: a value that is not defined.
  explicit Parameter(Array value) : cell_(std::make_shared<Cell>(std::move(value))) {}
  template <std::same_as<Tensor> T>
  __attribute__((unavailable("a Parameter holds an Array: write Parameter(x.array())"))) explicit Parameter(const T&);
  Parameter(const Parameter&) = default;
  Parameter& operator=(const Parameter&) = default;
  Parameter(Parameter&& other) noexcept : cell_(std::move(other.cell_)), moved_from_(other.moved_from_) {
    if (cell_) other.moved_from_ = true;
  }
  Parameter& operator=(Parameter&& other) noexcept {
    if (this == &other) return *this;
    cell_ = std::move(other.cell_);
    moved_from_ = other.moved_from_;
    if (cell_) other.moved_from_ = true;
    return *this;
  }
  ~Parameter() = default;

  /// A Parameter that is not defined, such as the bias of a Linear without one, gives an undefined Tensor. Errors: this
  /// was moved from, which is not the same.
  operator Tensor() const {
    if (cell_) return Tensor(cell_->value, node());
    require_kept();
    return Tensor(Array::unfilled());
  }
  bool defined() const { return cell_ != nullptr; }
  /// Errors: this was moved from.
  void require_kept() const {
    check_in("parameter", !moved_from_, "this parameter was moved from: use the one it was moved to");
  }
  const Array& value() const { return cell().value; }
  const Array& array() const { return cell().value; }
  const Shape& shape() const { return cell().value.shape(); }
  Index numel() const { return cell().value.numel(); }
  /// The leaf that receives gradients; null while frozen.
  const NodePtr& node() const {
    static const NodePtr none;
    return cell_ && cell_->trainable ? cell_->node : none;
  }
  /// Replaces the value. A graph recorded before keeps the old one. Errors: another shape.
  void set(Array value) const;
  /// Where an optimizer writes: the elements, copied first if anything else (a live graph, a saved copy) holds them.
  real* mutate() const { return cell().value.mutate(); }
  const Array& grad() const { return cell().node->grad; }
  /// The same for the gradient. Errors: there is none.
  real* mutate_grad() const { return cell().node->grad.mutate(); }
  void set_grad(Array grad) const;
  void zero_grad() const { cell().node->grad = Array(); }
  /// A frozen parameter acts as a constant in ops: no gradient, no optimizer step.
  bool trainable() const { return cell().trainable; }
  void set_trainable(bool on) const;
  /// Two handles to one cell.
  bool same_as(const Parameter& other) const { return cell_ == other.cell_; }
  const Cell* id() const { return cell_.get(); }

 private:
  Cell& cell() const {
    require_kept();
    check_in("parameter", cell_ != nullptr, Array::unfilled().missing(),
             " (or is it a bias that its layer does without?)");
    return *cell_;
  }
  std::shared_ptr<Cell> cell_;
  bool moved_from_ = false;
};

/// Parameters alive in this process; tests use it to find a field that a module's visit() misses.
Index live_parameters();
/// How many of them are frozen.
Index frozen_parameters();

}  // namespace mote
