// BackwardRule, which sends an op's gradient back, and save(), which lists what it keeps from the forward pass.
#pragma once

#include <optional>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/array/array.h"

namespace mote {

class Grads;
class Tensor;
class Parameter;

/// What a rule may keep: arrays, masks, integers, and plain values, which own nothing. Neither a Tensor nor any other
/// handle to a graph: so no rule can hold the graph it is part of, and graphs have no cycles.
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
const T& to_save(const T& value) {
  static_assert(is_saveable<T>, "a rule keeps arrays and plain values only; see is_saveable");
  return value;
}
template <class T>
requires(std::is_same_v<T, Tensor> || std::is_same_v<T, Parameter>) const Array& to_save(const T& value) {
  return value.array();
}

/// Represents a T in a compile-time check: converts to T, but to nothing that T itself would convert to.
template <class T>
struct Exactly {
  template <class U>
  requires std::is_same_v<U, T>
  operator U() const;
};

// The bytes of the elements that a kept value holds for backward.
template <class T>
Index kept_bytes(const T&) {
  return 0;
}
template <ArrayLike A>
Index kept_bytes(const A& x) {
  return x.defined() ? x.numel() * static_cast<Index>(sizeof(typename A::Element)) : 0;
}
inline Index kept_bytes(const Storage& x) { return static_cast<Index>(x.bytes()); }
template <class T, class Allocator>
Index kept_bytes(const std::vector<T, Allocator>& list) {
  if constexpr (std::is_trivially_copyable_v<T>) return static_cast<Index>(list.size() * sizeof(T));
  Index bytes = 0;
  for (const T& item : list) bytes += kept_bytes(item);
  return bytes;
}
}  // namespace detail

namespace detail {
/// A list of values of different types: what std::tuple is, at a tenth of its time to compile, which every op pays.
template <std::size_t i, class T>
struct Slot {
  T value;
};
template <class Positions, class... T>
struct SavedList;
template <std::size_t... i, class... T>
struct SavedList<std::index_sequence<i...>, T...> : Slot<i, T>... {
  template <std::size_t at, class U>
  static const U& value(const Slot<at, U>& slot) {
    return slot.value;
  }
  Index bytes() const { return (Index(0) + ... + kept_bytes(value<i>(*this))); }
  template <class Rule>
  static void call(const void* list, const Array& dy, Grads& dx) {
    if constexpr (sizeof...(T) == 0) {
      Rule{}(dy, dx);  // nothing was kept, and `list` is null
    } else {
      const SavedList& saved = *static_cast<const SavedList*>(list);
      Rule{}(dy, dx, value<i>(saved)...);
    }
  }
  static void destroy(void* list) {
    static_cast<SavedList*>(list)->~SavedList();
    free_block(list, sizeof(SavedList));
  }
};
template <class... T>
using Saved = SavedList<std::index_sequence_for<T...>, T...>;
}  // namespace detail

namespace detail {
/// save(module, path) is another function: it writes a file. Of a module no rule could keep anything.
template <class... T>
inline constexpr bool names_a_file = false;
template <class M, class Path, class... Rest>
inline constexpr bool names_a_file<M, Path, Rest...> =
    !std::is_same_v<M, Tensor> && !std::is_same_v<M, Parameter> && !is_saveable<M> &&
    std::is_convertible_v<const Path&, std::string_view>;
}  // namespace detail

/// What an op passes to its rule, in the order of the rule's last parameters: the array of a Tensor or Parameter, other
/// values unchanged. Nothing is copied unless the op records.
template <class... T>
requires(!detail::names_a_file<T...>) auto save(const T&... values) {
  return detail::Saved<decltype(detail::to_save(values))...>{{detail::to_save(values)}...};
}

/// A rule and what it keeps. The rule itself captures nothing; a block of mote's cache holds what save() was given, so
/// a warm training step requests no memory from the system.
class BackwardRule {
 public:
  BackwardRule() = default;

  /// Copies what `saved` refers to. `rule` is called as rule(dy, dx, saved...).
  template <class Rule, std::size_t... i, class... T>
  BackwardRule(const Rule& rule, const detail::SavedList<std::index_sequence<i...>, const T&...>& saved) {
    static_assert(std::is_empty_v<Rule>,
                  "a rule captures nothing: hand what it needs to save(...), as in "
                  "op.record(y, save(a), [](const Array& dy, Grads& dx, const Array& a) {...})");
    static_assert(
        requires(const Array& dy, Grads& dx) { rule(dy, dx, detail::Exactly<T>{}...); },
        "a rule takes (const Array& dy, Grads& dx) and then what save() was given, in that order and of those "
        "types");
    using Kept = detail::Saved<T...>;
    static_assert(alignof(Kept) <= 64);
    call_ = Kept::template call<Rule>;
    if constexpr (sizeof...(T) > 0) {
      kept_ = ::new (allocate_block(sizeof(Kept))) Kept{{saved.template value<i>(saved)}...};
      destroy_ = Kept::destroy;
    }
  }
  BackwardRule(BackwardRule&& other) noexcept { *this = std::move(other); }
  BackwardRule& operator=(BackwardRule&& other) noexcept {
    std::swap(kept_, other.kept_);
    std::swap(call_, other.call_);
    std::swap(destroy_, other.destroy_);
    return *this;
  }
  ~BackwardRule() {
    if (kept_) destroy_(kept_);
  }
  void operator()(const Array& dy, Grads& dx) const { call_(kept_, dy, dx); }

 private:
  void* kept_ = nullptr;
  void (*call_)(const void*, const Array&, Grads&) = nullptr;
  void (*destroy_)(void*) = nullptr;
};

}  // namespace mote
