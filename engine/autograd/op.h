// Op, which opens every op and records its rule: the only header that an op's file needs.
#pragma once

#include <exception>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "engine/array/nbytes.h"
#include "engine/autograd/backward.h"
#include "engine/autograd/parameter.h"
#include "engine/autograd/tensor.h"

namespace mote {

class Op;

/// Whoever looks at a thread's layers, ops and rules (engine/watch). No result depends on it: to learn how gradients
/// flow, read on at Op. Layers and ops nest; whatever has opened also closes, even after an error.
class Watch {
 public:
  virtual void layer_opened(const LayerScope&) = 0;
  virtual void layer_closed(const LayerScope&) noexcept = 0;
  virtual void op_opened(const Op&) = 0;
  /// What the innermost op says of itself before record(): its work (Op::flops), the shape of a value that is neither
  /// input nor result, and that it makes infinities by design.
  virtual void flops(Index forward, std::initializer_list<Index> per_gradient) = 0;
  virtual void note(const char* what, const Shape& shape) = 0;
  virtual void infinity_on_purpose() = 0;
  /// Whether somebody wants the op's internal value of that name; if so, show it.
  virtual bool wants(const char* value) const = 0;
  virtual void show(const char* value, const Tensor& x) = 0;
  /// Whether somebody wants to change that value, or "", the result of the innermost layer; and what it becomes.
  virtual bool changes(const char* value) const = 0;
  virtual Tensor changed(const char* value, const Tensor& x) = 0;
  /// `node` is null if nothing is recorded.
  virtual void op_recorded(const Op&, const Array& result, Index kept_bytes, Node* node) = 0;
  virtual void op_closed(const Op&) noexcept = 0;
  virtual void rule_opened(const Node&, const Array& dy) = 0;
  virtual void gradient_sent(const Node&, std::size_t i, const Array& dx, const Array& dy) = 0;
  virtual void rule_closed(const Node&) noexcept = 0;
  /// " (in <layer>)" for a node whose recording was seen, otherwise "".
  virtual std::string in_layer(const Node&) const = 0;

 protected:
  ~Watch() = default;
};

/// Lets this thread be watched as MOTE_DEBUG, MOTE_CHECK and MOTE_PROFILE ask, if they do. The core's only call of
/// engine/watch. Errors: a setting's value is none.
void watch_for_environment();

/// This thread's watch; null when nobody looks.
inline Watch* watching() {
  if (!thread_context.asked) [[unlikely]]
    watch_for_environment();
  return thread_context.watch;
}

namespace detail {
/// What an Op may refer to. A number or an Array would become a Tensor that dies at once.
template <class T>
concept OpInput = std::derived_from<std::remove_cvref_t<T>, Tensor> ||
    std::derived_from<std::remove_cvref_t<T>, Parameter> || std::convertible_to<T, std::span<const Tensor>>;
}  // namespace detail

/// The name of an op: a literal, since errors and reports speak of it as long as the program runs.
class OpName {
 public:
  consteval OpName(const char* literal) : text_(literal) {}
  operator const char*() const { return text_; }

 private:
  const char* text_;
};

/// Opens every op: provides its name for errors and its inputs for record(): Tensors, Parameters, or lists of Tensors.
/// Inputs must outlive the Op, as a function's arguments and a layer's fields do. Undefined ones count as not given,
/// those moved from are an error.
class Op {
 public:
  template <class... Inputs>
  explicit Op(OpName name, Inputs&&... inputs) : Op(name) {
    static_assert((std::is_lvalue_reference_v<Inputs> && ...),
                  "an Op's inputs must outlive it: give each a name first");
    static_assert((detail::OpInput<Inputs> && ...),
                  "an Op's inputs are Tensors, Parameters or lists of Tensors; numbers and arrays go into save(...)");
    if constexpr ((detail::OpInput<Inputs> && ...)) (add(inputs), ...);
  }
  explicit Op(OpName name) : name_(name) {
    if (watch_) [[unlikely]]
      watch_->op_opened(*this);
  }
  ~Op() {
    if (!recorded_ && tracked() && std::uncaught_exceptions() == 0) thread_context.unrecorded = name_;
    if (watch_) [[unlikely]]
      watch_->op_closed(*this);
  }
  Op(const Op&) = delete;

  /// The result as a Tensor. If gradients are on and an input is tracked, a node is recorded with `rule`, which
  /// captures nothing and is called as rule(dy, dx, saved...): dy is the gradient of the result, dx takes those of the
  /// inputs, and the rest is what save() was given.
  template <class Saved, class Rule>
  Tensor record(Array value, const Saved& saved, const Rule& rule) {
    NodePtr node = node_of(value);
    Index kept = 0;
    if (node)
      saved([&](const auto&... values) {
        node->backward = BackwardRule(rule, values...);
        if (watch_) kept = (Index(0) + ... + nbytes(values));
      });
    if (watch_) [[unlikely]]
      watch_->op_recorded(*this, value, kept, node.get());
    return Tensor(std::move(value), std::move(node));
  }
  /// The same for a rule that needs only dy.
  template <class Rule>
  Tensor record(Array value, const Rule& rule) {
    const auto nothing = [](const auto& use) { use(); };
    return record(std::move(value), nothing, rule);
  }

  const char* name() const { return name_; }
  /// Those given, in order; a list's one by one.
  std::vector<const Array*> inputs() const {
    std::vector<const Array*> arrays;
    for (std::size_t i = 0; i < inputs_.size(); ++i) arrays.push_back(inputs_[i].array);
    return arrays;
  }
  /// Whoever looks; null when nobody does. Only then is a report worthwhile.
  Watch* watch() const { return watch_; }
  /// Reports the floating-point operations of the op's own arithmetic, a multiply-add being two: ops that it calls
  /// report their own. Each input's gradient costs the same, unless `per_gradient` gives other costs, input by input.
  void flops(Index forward, std::initializer_list<Index> per_gradient = {}) const {
    if (watch_) [[unlikely]]
      watch_->flops(forward, per_gradient);
  }

 private:
  struct Input {
    const Array* array;
    const NodePtr* node;
  };
  void add(const Tensor& t) {
    check(!t.array().moved_from(), "input ", inputs_.size(), " was moved from: use the tensor that it was moved to");
    inputs_.push_back({&t.array(), &t.node()});
  }
  void add(const Parameter& p) { inputs_.push_back({p.defined() ? &p.array() : &Tensor::no_array, &p.node()}); }
  void add(std::span<const Tensor> inputs) {
    for (const Tensor& t : inputs) add(t);
  }
  bool tracked() const {
    if (NoGrad::active()) return false;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
      if (*inputs_[i].node) return true;
    return false;
  }

  /// null if nothing is to be recorded.
  NodePtr node_of(const Array& value) {
    recorded_ = true;
    if (!tracked()) return nullptr;
    NodePtr node = Node::make(name_, value.shape());
    for (std::size_t i = 0; i < inputs_.size(); ++i) node->add_input(*inputs_[i].node);
    return node;
  }

  const char* const name_;
  bool recorded_ = false;
  const During<const char*> named_{thread_context.op, name_};
  Watch* const watch_ = watching();
  SmallVector<Input, 4> inputs_;
};

}  // namespace mote
