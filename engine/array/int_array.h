// IntArray, integers with a shape, used as indices. They have no gradient and are not tensors.
#pragma once

#include "engine/array/nested.h"
#include "engine/array/strided.h"

namespace mote {

/// Integers with a shape, usually ids [B, T].
class IntArray : public Strided<IntArray, Index> {
 public:
  static constexpr const char* not_defined = "an IntArray is not defined (never filled, or moved from?)";

  IntArray() = default;
  explicit IntArray(const Shape& shape, Integer value = 0) : IntArray(full(shape, value)) {}
  /// `values` in row-major order. Errors: their count differs from shape's.
  IntArray(const Shape& shape, std::span<const Index> values) : Strided(shape, values) {}

  friend bool operator==(const IntArray& a, const IntArray& b) {
    const IntArray x = a.contiguous(), y = b.contiguous();
    return x.shape() == y.shape() && std::equal(x.data(), x.data() + x.numel(), y.data());
  }
};

/// ints({{1, 2}, {3, 4}}) is [2, 2]; of a std::vector, nested or not, as of braces. Errors: lists of unequal lengths.
inline IntArray ints(const Nested<Index>& list) {
  Shape shape;
  const std::vector<Index> values = list.flatten(shape);
  return IntArray(shape, std::span<const Index>(values));
}

}  // namespace mote
