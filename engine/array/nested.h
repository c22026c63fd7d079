// Nested: lists of numbers, given as nested braces, as in PyTorch tutorials, or as std::vectors.
#pragma once

#include <concepts>
#include <initializer_list>
#include <vector>

#include "engine/base/argument.h"
#include "engine/base/shape.h"

namespace mote {

namespace detail {
/// Whether a list of T accepts a U. Bools go only into a list of bools, and floating-point numbers only into a list of
/// floating-point numbers.
template <class U, class T>
concept GoesInto = (std::same_as<U, bool> && std::same_as<T, bool>) || (Whole<U> && !std::same_as<T, bool>) ||
                   (std::floating_point<U> && std::floating_point<T>);
}  // namespace detail

/// A number, a list of numbers, or a list of equally shaped lists, such as {{0.43, 0.15}, {0.55, 0.87}}. Errors (in
/// flatten): lists of unequal lengths.
template <class T>
class Nested {
 public:
  template <class U>
  requires detail::GoesInto<U, T> Nested(U value) : value_(converted(value)) {}
  template <class U>
  requires(std::is_arithmetic_v<U> && !detail::GoesInto<U, T>) __attribute__((
      unavailable("a list has one kind: ints({1, 2}) of integers, tensor({1.5, 2}) of numbers, mask({true}) of bools")))
  Nested(U other_kind);
  Nested(std::initializer_list<Nested> items) : items_(items), list_(true) {}
  template <class U>
  requires(!std::is_arithmetic_v<U> || detail::GoesInto<U, T>) Nested(const std::vector<U>& items)
      : items_(items.begin(), items.end()), list_(true) {}

  /// Returns all values in row-major order, and sets `shape` to the shape of the list.
  std::vector<T> flatten(Shape& shape) const {
    std::vector<Index> extents;
    for (const Nested* n = this; n->list_; n = &n->items_.front()) {
      extents.push_back(static_cast<Index>(n->items_.size()));
      if (n->items_.empty()) break;
    }
    shape = Shape(std::span<const Index>(extents));
    std::vector<T> values;
    append(shape, 0, values);
    return values;
  }

 private:
  template <class U>
  static T converted(U value) {
    if constexpr (std::same_as<T, Index>)
      return detail::index_of(value);
    else
      return static_cast<T>(value);
  }
  void append(const Shape& shape, int depth, std::vector<T>& values) const {
    const bool leaf = depth == shape.rank();
    check_in("nested", leaf ? !list_ : list_ && static_cast<Index>(items_.size()) == shape[depth],
             "the lists must have equal lengths: the first ones make the shape ", shape,
             ", which a later one does not fit");
    if (leaf) values.push_back(value_);
    for (const Nested& item : items_) item.append(shape, depth + 1, values);
  }

  T value_{};
  std::vector<Nested> items_;
  bool list_ = false;
};

}  // namespace mote
