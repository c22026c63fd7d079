// Op, which opens every op and records its rule: what an op's file includes.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "engine/autograd/grads.h"
#include "engine/autograd/no_grad.h"
#include "engine/autograd/observer.h"
#include "engine/autograd/parameter.h"
#include "engine/autograd/tensor.h"
#include "engine/base/env.h"

namespace mote {

/// Opens every op: gives errors its name, and record() its inputs: Tensors, Parameters, or lists of Tensors. Inputs
/// must outlive the Op, as a function's own arguments and a layer's own fields do. Undefined ones count as not given.
class Op {
 public:
  template <class... Inputs>
  explicit Op(const char* name, Inputs&&... inputs) : Op(name) {
    static_assert((std::is_lvalue_reference_v<Inputs> && ...),
                  "an Op's inputs must outlive it: give each a name first");
    (add(inputs), ...);
  }
  explicit Op(const char* name) : outer_(std::exchange(thread_context.op, name)), name_(name) {
    if (thread_context.observer) [[unlikely]]
      tell_opened();
  }
  ~Op() {
    thread_context.op = outer_;
    if (thread_context.observer) [[unlikely]]
      thread_context.observer->op_closed(*this);
  }
  Op(const Op&) = delete;

  /// The result as a Tensor. `backward` is kept only when an input is tracked and gradients are on.
  template <class Backward>
  Tensor record(Array value, Backward&& backward) {
    if (watching_) inspect(value);
    if (thread_context.observer) [[unlikely]]
      tell_recorded(value);
    if (!tracked()) return Tensor(std::move(value));
    NodePtr node = make_node(value.shape());
    node->backward = BackwardRule(std::forward<Backward>(backward));
    return Tensor(std::move(value), std::move(node));
  }
  /// Tells MOTE_CHECK=finite that this op makes infinities on purpose (masked_fill).
  void allow_infinity() { infinity_allowed_ = true; }

  // What an op may tell a trace, before record().
  const char* name() const { return name_; }
  /// Whether somebody listens: only then is it worth working out what to tell.
  bool observed() const { return thread_context.observer != nullptr; }
  /// Its work in floating-point operations, a multiply-add being two. Not told: see nn/trace.h.
  void flops(Index count) const {
    if (thread_context.observer) [[unlikely]]
      thread_context.observer->op_flops(*this, count);
  }
  /// The shape of something that is neither an input nor the result: attention's weights.
  void note(const char* what, const Shape& shape) const {
    if (thread_context.observer) [[unlikely]]
      thread_context.observer->op_noted(*this, what, shape);
  }

 private:
  struct Input {
    const Array* array;
    const NodePtr* node;
  };
  void add(Input input) {
    if (count_ < few)
      first_[count_] = input;
    else
      rest_.push_back(input);
    ++count_;
  }
  void add(const Tensor& t) { add(Input{&t.array(), &t.node()}); }
  void add(const Parameter& p) {
    static const Array none;
    add(Input{p.defined() ? &p.array() : &none, &p.node()});
  }
  void add(std::span<const Tensor> inputs) {
    for (const Tensor& t : inputs) add(t);
  }
  void add(const std::vector<Tensor>& inputs) { add(std::span<const Tensor>(inputs)); }
  const Array& array(std::size_t i) const { return *(i < few ? first_[i] : rest_[i - few]).array; }
  const NodePtr& node(std::size_t i) const { return *(i < few ? first_[i] : rest_[i - few]).node; }
  bool tracked() const {
    if (NoGrad::active()) return false;
    for (std::size_t i = 0; i < count_; ++i)
      if (node(i)) return true;
    return false;
  }
  NodePtr make_node(const Shape& shape) const;
  void inspect(const Array& value) const;  // MOTE_DEBUG and MOTE_CHECK
  void tell_opened();
  void tell_recorded(const Array& value) const;

  static constexpr std::size_t few = 4;
  const char* outer_;
  const char* name_;
  bool watching_ = settings().debug || settings().check_finite;
  bool infinity_allowed_ = false;
  std::size_t count_ = 0;
  std::array<Input, few> first_;
  std::vector<Input> rest_;
};

}  // namespace mote
