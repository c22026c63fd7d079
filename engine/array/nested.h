// Nested, lists of numbers: braces, as tutorials write them, and vectors.
#pragma once

#include <concepts>
#include <initializer_list>
#include <vector>

#include "engine/base/shape.h"

namespace mote {

/// A number or a list of equally shaped lists: {{0.43, 0.15}, {0.55, 0.87}}. Errors (in flatten): lists of unequal
/// lengths.
template <class T>
class Nested {
 public:
  Nested(T value) : value_(value) {}
  Nested(std::initializer_list<Nested> items) : items_(items), list_(true) {}
  template <class U>
  requires(std::convertible_to<U, Nested> && !(std::integral<T> && std::floating_point<U>))
      Nested(const std::vector<U>& items)
      : items_(items.begin(), items.end()), list_(true) {}

  /// All values in row-major order; `shape` receives their shape.
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
  void append(const Shape& shape, int depth, std::vector<T>& values) const {
    const bool leaf = depth == shape.rank();
    check_in("nested", leaf ? !list_ : list_ && static_cast<Index>(items_.size()) == shape[depth],
             "lists of unequal lengths: the first entries give shape ", shape);
    if (leaf) values.push_back(value_);
    for (const Nested& item : items_) item.append(shape, depth + 1, values);
  }

  T value_{};
  std::vector<Nested> items_;
  bool list_ = false;
};

}  // namespace mote
