// BackwardRule, which computes the gradients of an op's inputs, and save(), which lists the values that a rule keeps
// from the forward pass.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/array/array.h"

namespace mote {

class Grads;
class Tensor;
class Parameter;

/// Whether a rule may keep a T. It may keep arrays of any kind, plain values that own nothing, and vectors and
/// optionals of these. It may not keep a Tensor or any other handle to a graph. So no rule can hold the graph that it
/// is part of, and graphs have no cycles.
template <class T>
inline constexpr bool is_saveable = std::is_trivially_copyable_v<T> &&
                                    (!std::is_pointer_v<T> || std::is_function_v<std::remove_pointer_t<T>>);
template <ArrayLike A>
inline constexpr bool is_saveable<A> = true;
template <>
inline constexpr bool is_saveable<Storage> = true;
template <class T, class Allocator>
inline constexpr bool is_saveable<std::vector<T, Allocator>> = is_saveable<T>;
template <class T>
inline constexpr bool is_saveable<std::optional<T>> = is_saveable<T>;

namespace detail {
template <class T>
inline constexpr bool has_array = std::is_same_v<T, Tensor> || std::is_same_v<T, Parameter>;
template <class T>
const auto& to_save(const T& value) {
  if constexpr (has_array<T>)
    return value.array();
  else
    return value;
}
}  // namespace detail

/// Lists the values that an op passes to its rule, in the order of the rule's last parameters. Of a Tensor or
/// Parameter, the rule receives the array. Values are copied only if the op records a node. save(model, path), which
/// saves a module, is another function.
template <class First, class... T>
requires(is_saveable<First> || detail::has_array<First>) auto save(const First& first, const T&... others) {
  static_assert((!std::is_convertible_v<const T&, std::string> && ...),
                "save() with a path is for modules: write save(model, path), or save_npy(path, x.array()) for one "
                "array");
  static_assert(((is_saveable<T> || detail::has_array<T>)&&...),
                "a rule keeps arrays and plain values only; see is_saveable");
  // Returns the values as a lambda instead of a std::tuple, because a lambda compiles faster.
  return [&](const auto& use) { use(detail::to_save(first), detail::to_save(others)...); };
}

/// A backward rule and the values that it keeps. The rule itself captures nothing. The values that were passed to
/// save() lie in a block of mote's memory cache, so a training step requests no memory from the system once the cache
/// is warm.
class BackwardRule {
 public:
  BackwardRule() = default;

  /// Copies `saved`. The rule is called as rule(dy, dx, saved...).
  template <class Rule, class... T>
  explicit BackwardRule(const Rule&, const T&... saved) {
    static_assert(std::is_empty_v<Rule>,
                  "a rule captures nothing: hand what it needs to save(...), as in "
                  "op.record(y, save(a), [](const Array& dy, Grads& dx, const Array& a) {...})");
    static_assert(
        requires(const Array& dy, Grads& dx) { Rule{}(dy, dx, saved...); },
        "a rule takes (const Array& dy, Grads& dx) and then what save() was given, in that order and of those "
        "types");
    auto bound = [... kept = saved](const Array& dy, Grads& dx) { Rule{}(dy, dx, kept...); };
    using Bound = decltype(bound);
    static_assert(alignof(Bound) <= 64 && std::is_nothrow_move_constructible_v<Bound>);
    call_ = [](const void* kept, const Array& dy, Grads& dx) { (*static_cast<const Bound*>(kept))(dy, dx); };
    const auto destroy = [](void* kept) {
      static_cast<Bound*>(kept)->~Bound();
      free_block(kept, sizeof(Bound));
    };
    bound_ = {::new (allocate_block(sizeof(Bound))) Bound(std::move(bound)), destroy};
  }
  void operator()(const Array& dy, Grads& dx) const { call_(bound_.get(), dy, dx); }

 private:
  std::unique_ptr<void, void (*)(void*)> bound_{nullptr, nullptr};  // the rule with the values that it keeps
  void (*call_)(const void*, const Array&, Grads&) = nullptr;
};

}  // namespace mote
