// Leaves: tensors that require a gradient, and parameters.
#include "engine/autograd/tensor.h"

#include <atomic>

#include "engine/autograd/parameter.h"

namespace mote {
namespace {

std::atomic<Index> parameters_alive{0}, parameters_frozen{0};

}  // namespace

Tensor& Tensor::requires_grad_(bool on) & {
  value_.require("requires_grad_");
  check_in("requires_grad_", !node_ || node_->leaf, "this tensor is the result of '", node_ ? node_->op : "",
           "'; only leaves can be switched: detach() it first");
  if (!on) node_.reset();
  if (!on || node_) return *this;
  node_ = std::allocate_shared<Node>(CachedAllocator<Node>(), "leaf", shape());
  node_->leaf = true;
  return *this;
}

const Array& Tensor::grad() const {
  static const Array none;
  if (!node_) return none;
  check_in("grad", node_->leaf || node_->retain || !node_->replaced_leaf, "this tensor is no longer a leaf: an update ",
           "like w -= ... replaced it by the result of '", node_->op,
           "', which keeps no gradient; a weight that you update is a Parameter, by w.set(w.value() - ...)");
  check_in("grad", node_->leaf || node_->retain, "this tensor is the result of '", node_->op,
           "', and only leaves and parameters keep a gradient: call retain_grad() on it before backward()");
  return node_->grad;
}
void Tensor::zero_grad() {
  if (node_) node_->grad = Array();
}
void Tensor::retain_grad() {
  check_in("retain_grad", node_ != nullptr,
           "this tensor is not tracked: nothing it was computed from requires a gradient");
  check_in("retain_grad", !node_->consumed, "backward() has already run: call it before");
  node_->retain = true;
}

Index live_parameters() { return parameters_alive.load(); }
Index frozen_parameters() { return parameters_frozen.load(); }

Parameter::Cell::Cell(Array v) : value(std::move(v)) {
  value.require("parameter");
  node = std::allocate_shared<Node>(CachedAllocator<Node>(), "parameter", value.shape());
  node->leaf = true;
  parameters_alive.fetch_add(1, std::memory_order_relaxed);
}
Parameter::Cell::~Cell() {
  parameters_alive.fetch_sub(1, std::memory_order_relaxed);
  if (!trainable) parameters_frozen.fetch_sub(1, std::memory_order_relaxed);
}

void Parameter::set_trainable(bool on) const {
  Cell& c = cell();
  if (c.trainable == on) return;
  c.trainable = on;
  parameters_frozen.fetch_add(on ? -1 : 1, std::memory_order_relaxed);
}

void Parameter::set(Array value) const {
  value.require("set");
  check_in("set", value.shape() == shape(), "a parameter of shape ", shape(), " cannot take shape ", value.shape());
  cell_->value = std::move(value);
}
void Parameter::set_grad(Array grad) const {
  grad.require("set_grad");
  check_in("set_grad", grad.shape() == shape(), "a parameter of shape ", shape(), " cannot take a gradient of shape ",
           grad.shape());
  cell_->node->grad = std::move(grad);
}

}  // namespace mote
