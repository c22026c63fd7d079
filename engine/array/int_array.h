// IntArray, integers with a shape, used as indices. They have no gradient and are not tensors.
#pragma once

#include <functional>

#include "engine/array/mask.h"

namespace mote {

/// Integers with a shape, usually token ids [B, T].
class IntArray : public Strided<IntArray, Index> {
 public:
  static constexpr const char* not_defined =
      "the IntArray is empty, an IntArray(): it was never filled, or was moved from";

  IntArray() = default;
  IntArray(const IntArray&) = default;
  IntArray(IntArray&&) noexcept = default;
  ~IntArray() = default;
  IntArray& operator=(const IntArray&) & =
      default;  // not to a temporary, such as a slice: the assignment would be lost
  IntArray& operator=(IntArray&&) & noexcept = default;
  explicit IntArray(const Shape& shape, Integer value = 0) : IntArray(full(shape, value)) {}
  /// An IntArray with these values, given in row-major order. Errors: the number of values is not the shape's numel().
  IntArray(const Shape& shape, std::span<const Index> values) : Strided(shape, values) {}
};

// Comparisons return Masks, element by element with broadcasting. mean(tensor(argmax(logits) == targets)) is the
// accuracy. key_padding(ids != pad) is attention's mask for padded rows. Errors: shapes that do not broadcast.
#define MOTE_COMPARISON(op, f)                                                                                   \
  inline Mask operator op(const IntArray& a, const IntArray& b) { return combine<Mask>(a, b, std::f<Index>()); } \
  inline Mask operator op(const IntArray& a, Integer b) { return a op IntArray({}, b); }
MOTE_COMPARISON(==, equal_to)
MOTE_COMPARISON(!=, not_equal_to)
MOTE_COMPARISON(<, less)
MOTE_COMPARISON(<=, less_equal)
MOTE_COMPARISON(>, greater)
MOTE_COMPARISON(>=, greater_equal)
#undef MOTE_COMPARISON

/// Whether shapes and elements are the same, as PyTorch's torch.equal.
inline bool equal(const IntArray& a, const IntArray& b) { return detail::same_elements(a, b); }

/// An IntArray from braces or from a std::vector, nested or not: ints({{1, 2}, {3, 4}}) has shape [2, 2]. Errors:
/// lists of unequal lengths.
inline IntArray ints(const Nested<Index>& list) {
  Shape shape;
  const std::vector<Index> values = list.flatten(shape);
  return IntArray(shape, std::span<const Index>(values));
}

}  // namespace mote
