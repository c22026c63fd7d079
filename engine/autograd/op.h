// Op, which opens every op and records its rule: the only header that an op's file needs.
#pragma once

#include <exception>
#include <initializer_list>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "engine/autograd/grads.h"
#include "engine/autograd/no_grad.h"
#include "engine/autograd/observer.h"
#include "engine/autograd/parameter.h"
#include "engine/autograd/tensor.h"

namespace mote {

/// Opens every op: provides its name for errors and its inputs for record(): Tensors, Parameters, or lists of Tensors.
/// Inputs must outlive the Op, as a function's arguments and a layer's fields do. Undefined ones count as not given,
/// those moved from are an error.
class Op {
 public:
  template <class... Inputs>
  explicit Op(const char* name, Inputs&&... inputs) : Op(name) {
    static_assert((std::is_lvalue_reference_v<Inputs> && ...),
                  "an Op's inputs must outlive it: give each a name first");
    (add(inputs), ...);
  }
  explicit Op(const char* name) : outer_(std::exchange(thread_context.op, name)), name_(name) {
    if (watched_) [[unlikely]]
      tell_opened();
  }
  ~Op() {
    thread_context.op = outer_;
    if (!recorded_ && tracked() && std::uncaught_exceptions() == 0) thread_context.unrecorded = name_;
    if (watched_) [[unlikely]]
      Watchers::tell([this](Observer& o) { o.op_closed(*this); });
  }
  Op(const Op&) = delete;

  /// The result as a Tensor. If gradients are on and an input is tracked, a node is recorded with `rule`, which
  /// captures nothing and is called as rule(dy, dx, saved...): dy is the gradient of the result, dx takes those of the
  /// inputs, and the rest is what save() was given.
  template <class Saved, class Rule>
  Tensor record(Array value, const Saved& saved, const Rule& rule) {
    recorded_ = true;
    NodePtr node;
    if (tracked()) {
      node = make_node(value.shape());
      node->backward = BackwardRule(rule, saved);
    }
    if (watched_) [[unlikely]]
      tell_recorded(value, node ? saved.bytes() : 0, node.get());
    return Tensor(std::move(value), std::move(node));
  }
  /// The same for a rule that needs only dy.
  template <class Rule>
  Tensor record(Array value, const Rule& rule) {
    return record(std::move(value), save(), rule);
  }

  const char* name() const { return name_; }

  // What an op reports about itself, before record(); only observers receive it.

  /// Whether anyone observes: only then is computing a report worthwhile.
  bool watched() const { return watched_; }
  /// Floating-point operations of the op's own arithmetic, a multiply-add being two: ops that it calls report their
  /// own. Each input's gradient costs the same, unless `per_gradient` gives other costs, input by input.
  void flops(Index forward, std::initializer_list<Index> per_gradient = {}) {
    if (watched_) [[unlikely]]
      state_flops(forward, per_gradient);
  }
  /// Declares that the op makes infinities by design: MOTE_CHECK=finite lets them pass.
  void infinity_on_purpose() { infinity_on_purpose_ = true; }
  /// The shape of a value that is neither an input nor the result: attention's weights.
  void note(const char* what, const Shape& shape) {
    if (watched_) [[unlikely]]
      state().notes.emplace_back(what, shape);
  }
  /// Whether an observer wants the value with that name; if so, show it.
  bool wants(const char* value) const { return watched_ && Watchers::want(value); }
  void show(const char* value, const Array& x) const {
    if (watched_) [[unlikely]]
      Watchers::tell([&](Observer& o) {
        if (o.wants(value)) o.value_shown(*this, value, x);
      });
  }

 private:
  struct Input {
    const Array* array;
    const NodePtr* node;
  };
  struct Statement {
    Index flops = -1;
    std::vector<Index> gradient_flops = {};
    std::vector<std::pair<const char*, Shape>> notes = {};
  };
  void add(const Tensor& t) {
    check(!t.array().moved_from(), "input ", inputs_.size(), " was moved from: use the tensor that it was moved to");
    inputs_.push_back({&t.array(), &t.node()});
  }
  void add(const Parameter& p) {
    static const Array none;
    p.require_kept();
    inputs_.push_back({p.defined() ? &p.array() : &none, &p.node()});
  }
  void add(std::span<const Tensor> inputs) {
    for (const Tensor& t : inputs) add(t);
  }
  void add(const std::vector<Tensor>& inputs) { add(std::span<const Tensor>(inputs)); }
  bool tracked() const {
    if (NoGrad::active()) return false;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (*inputs_[i].node) return true;
    return false;
  }
  NodePtr make_node(const Shape& shape) const;
  Statement& state();
  void state_flops(Index forward, std::initializer_list<Index> per_gradient);
  void tell_opened();
  void tell_recorded(const Array& value, Index kept_bytes, Node* node);

  const char* outer_;
  const char* name_;
  bool watched_ = Watchers::any();
  bool infinity_on_purpose_ = false, recorded_ = false;
  std::unique_ptr<Statement> statement_;
  SmallVector<Input, 4> inputs_;
};

}  // namespace mote
