// IntArray, integer ids with a shape. They index; they have no gradient and are not tensors.
#pragma once

#include "engine/array/flat.h"
#include "engine/array/nested.h"

namespace mote {

/// Integer ids, usually [B, T].
class IntArray : public Flat<Index> {
 public:
  using Flat::Flat;
  IntArray(Flat<Index> flat) : Flat(std::move(flat)) {}
  /// The same ids under another shape; one extent may be -1 and is worked out. Errors: another number of elements.
  IntArray reshape(const Shape& shape) const { return reshaped(shape); }
  IntArray reshape(std::initializer_list<Index> extents) const {
    return reshaped(detail::resolve("reshape", shape(), std::span<const Index>(extents.begin(), extents.size())));
  }
  /// Positions [start, end) of an axis, as a copy; clamped and counted from the end as in Array::slice.
  IntArray slice(int axis, Index start, Index end) const {
    const int a = shape().axis(axis);
    const Index extent = shape()[a];
    const auto clamped = [extent](Index i) { return std::clamp<Index>(i < 0 ? i + extent : i, 0, extent); };
    const Index first = clamped(start), count = std::max(first, clamped(end)) - first;
    Index inner = 1, outer = 1;
    for (int i = 0; i < rank(); ++i) (i < a ? outer : inner) *= i == a ? 1 : shape()[i];
    IntArray out(shape().with(a, count));
    Index* to = out.mutate();
    for (Index o = 0; o < outer; ++o) {
      const Index* const from = data() + (o * extent + first) * inner;
      to = std::copy(from, from + count * inner, to);
    }
    return out;
  }
  friend bool operator==(const IntArray& a, const IntArray& b) {
    return a.shape() == b.shape() && std::equal(a.data(), a.data() + a.numel(), b.data());
  }
};

/// ints({{1, 2}, {3, 4}}) is [2, 2]. Errors: lists of unequal lengths.
inline IntArray ints(const Nested<Index>& list) {
  Shape shape;
  const std::vector<Index> values = list.flatten(shape);
  return IntArray(shape, std::span<const Index>(values));
}

}  // namespace mote
