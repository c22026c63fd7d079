// How a Tensor becomes a leaf, how its gradient is read, and the start of the backward pass.
#include "engine/autograd/tensor.h"

#include "engine/autograd/backward.h"
#include "engine/autograd/diagnose.h"

namespace mote {

Tensor& Tensor::requires_grad_(Flag on) & {
  value_.require("requires_grad_");
  check_in("requires_grad_", !node_ || node_->leaf, "this tensor is the result of '", node_ ? node_->op : "",
           "'; only leaves can be switched: detach() it first");
  if (!on) node_.reset();
  if (on && !node_) node_ = Node::make_leaf("leaf", shape());
  return *this;
}

const Array& Tensor::grad() const& {
  if (!node_) return no_array;
  if (!node_->leaf && !node_->retain) fail_no_gradient(*node_);
  return node_->grad;
}
void Tensor::zero_grad() {
  if (node_) node_->grad = Array();
}
void Tensor::retain_grad() {
  check_in("retain_grad", node_ != nullptr,
           "this tensor is not tracked: nothing it was computed from requires a gradient");
  check_in("retain_grad", !node_->consumed, "backward() has already run: call retain_grad() before it");
  node_->retain = true;
}

void Tensor::backward() const {
  value_.require("backward");
  check_in("backward", numel() == 1, "the result has shape ", shape(),
           ", not one element: reduce it with sum() or mean(), or pass the gradient dy of that shape");
  backward(Array::full(shape(), 1));
}

void Tensor::backward(const Array& dy) const {
  value_.require("backward");
  if (!node_) fail_untracked();
  check_in("backward", dy.defined(), "the gradient dy is an empty Array(): it needs the shape ", shape(),
           " of the tensor");
  check_in("backward", dy.shape() == shape(), "the gradient dy ", dy.shape(), " must have the shape ", shape(),
           " of the tensor");
  send_back(node_, dy);
}

}  // namespace mote
