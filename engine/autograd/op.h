// Op, the object that the function of an op creates first. It records the op's backward rule.
#pragma once

#include <concepts>
#include <exception>
#include <initializer_list>
#include <span>
#include <utility>
#include <vector>

#include "engine/autograd/backward.h"
#include "engine/autograd/observer.h"
#include "engine/autograd/parameter.h"
#include "engine/autograd/tensor.h"

namespace mote {

namespace detail {
/// A type that an Op accepts as an input. Numbers and Arrays are excluded, because they would become temporary Tensors
/// that die at once.
template <class T>
concept OpInput = std::derived_from<std::remove_cvref_t<T>, Tensor> ||
    std::derived_from<std::remove_cvref_t<T>, Parameter> || std::convertible_to<T, std::span<const Tensor>>;
}  // namespace detail

/// The name of an op. It must be a string literal, since errors and reports may use it as long as the program runs.
class OpName {
 public:
  consteval OpName(const char* literal) : text_(literal) {}
  operator const char*() const { return text_; }

 private:
  const char* text_;
};

/// The object with which every op begins. It holds the op's name, which errors use, and the op's inputs, which
/// record() uses. The inputs are Tensors, Parameters or lists of Tensors. They must outlive the Op, as a function's
/// arguments and a layer's fields do. An undefined input counts as not given. Errors: an input that was moved from.
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
    if (watching()) [[unlikely]]
      tell({.kind = Event::op_opened, .name = name_, .op = this});
  }
  ~Op() {
    if (!recorded_ && tracked() && std::uncaught_exceptions() == 0) thread_context.unrecorded = name_;
    if (thread_context.observer) [[unlikely]]
      tell_closed({.kind = Event::op_closed, .name = name_, .op = this});
  }
  Op(const Op&) = delete;

  /// Returns the result as a Tensor. If gradients are on and an input is tracked, a node is recorded with `rule`. The
  /// rule captures nothing. It is called as rule(dy, dx, saved...). dy is the gradient of the result, dx receives the
  /// gradients of the inputs, and saved... are the values that were passed to save().
  template <class Saved, class Rule>
  Tensor record(Array value, const Saved& saved, const Rule& rule) {
    NodePtr node = node_of(value);
    if (node) saved([&](const auto&... values) { node->backward = BackwardRule(rule, values...); });
    if (thread_context.observer) [[unlikely]]
      saved([&](const auto&... values) {
        const std::initializer_list<KeptValue> kept{KeptValue(values)...};
        tell({.kind = Event::op_recorded,
              .name = name_,
              .op = this,
              .node = node.get(),
              .result = &value,
              .kept = kept});
      });
    return Tensor(std::move(value), std::move(node));
  }
  /// Like the function above, for a rule that needs no saved values. The rule is called as rule(dy, dx).
  template <class Rule>
  Tensor record(Array value, const Rule& rule) {
    const auto nothing = [](const auto& use) { use(); };
    return record(std::move(value), nothing, rule);
  }

  const char* name() const { return name_; }
  /// The arrays of the op's inputs, in order. A list of tensors counts as its tensors, one by one.
  std::vector<const Array*> inputs() const {
    std::vector<const Array*> arrays;
    for (std::size_t i = 0; i < inputs_.size(); ++i) arrays.push_back(inputs_[i].array);
    return arrays;
  }

 private:
  struct Input {
    const Array* array;
    const NodePtr* node;
  };
  void add(const Tensor& t) {
    check(!t.array().moved_from(), "input ", inputs_.size(),
          " (counted from 0) was moved from: use the tensor that it was moved to");
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

  /// The new node of the result, or null if nothing is to be recorded.
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
  SmallVector<Input, 4> inputs_;
};

}  // namespace mote
