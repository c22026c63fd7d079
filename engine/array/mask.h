// Mask: booleans with a shape. Comparisons of tensors return Masks (ops/compare.h).
#pragma once

#include <concepts>
#include <cstdint>

#include "engine/array/combine.h"
#include "engine/array/nested.h"
#include "engine/array/strided.h"

namespace mote {

class Tensor;

/// Booleans with a shape, one byte each. & | ^ ~ == and != work element by element with broadcasting.
class Mask : public Strided<Mask, std::uint8_t> {
 public:
  static constexpr const char* not_defined = "the mask is empty, a Mask(): it was never filled, or was moved from";

  Mask() = default;
  Mask(const Mask&) = default;
  Mask(Mask&&) noexcept = default;
  ~Mask() = default;
  Mask& operator=(const Mask&) & = default;  // not to a temporary, such as a slice: the assignment would be lost
  Mask& operator=(Mask&&) & noexcept = default;
  explicit Mask(const Shape& shape, Flag value = false) : Mask(full(shape, value)) {}
  /// A mask with these values, 0 or 1, given in row-major order. Errors: the number of values is not the shape's
  /// numel(), or a value is neither 0 nor 1.
  Mask(const Shape& shape, std::span<const std::uint8_t> values) : Strided(shape, values) {
    for (const std::uint8_t value : values) check_in("mask", value <= 1, "a mask holds 0 and 1, not ", Index(value));
  }
  /// A Tensor does not convert to a Mask, because the numbers of a Tensor could mark the positions to attend to, mark
  /// the positions to block, or be added to the scores. The caller must choose.
  template <std::same_as<Tensor> T>
  __attribute__((
      unavailable("a Tensor is not a Mask: of 0 and 1 write m > 0, or from_blocked(m) where 1 means "
                  "blocked; of 0 and -infinity write m == 0"))) Mask(const T&);

  explicit operator bool() const = delete;  // a mask is no bool: write all(mask) or any(mask)

  friend Mask operator&(const Mask& a, const Mask& b) {
    return combine<Mask>(a, b, [](auto x, auto y) { return x != 0 && y != 0; });
  }
  friend Mask operator|(const Mask& a, const Mask& b) {
    return combine<Mask>(a, b, [](auto x, auto y) { return x != 0 || y != 0; });
  }
  friend Mask operator^(const Mask& a, const Mask& b) { return a != b; }
  friend Mask operator==(const Mask& a, const Mask& b) {
    return combine<Mask>(a, b, [](auto x, auto y) { return x == y; });
  }
  friend Mask operator!=(const Mask& a, const Mask& b) {
    return combine<Mask>(a, b, [](auto x, auto y) { return x != y; });
  }
  template <std::same_as<Mask> M>
  friend __attribute__((unavailable("of masks write a & b"))) Mask operator&&(const M&, const M&);
  template <std::same_as<Mask> M>
  friend __attribute__((unavailable("of masks write a | b"))) Mask operator||(const M&, const M&);
  template <std::same_as<Mask> M>
  friend __attribute__((unavailable("of a mask write ~a"))) Mask operator!(const M&);
  friend Mask operator~(const Mask& a) {
    return combine<Mask>(a, [](auto x) { return x == 0; });
  }
};

namespace detail {
template <ArrayLike A>
bool same_elements(const A& a, const A& b) {
  a.require("equal");
  b.require("equal");
  return a.shape() == b.shape() && a.to_vector() == b.to_vector();
}
}  // namespace detail

/// Whether shapes and elements are the same.
inline bool equal(const Mask& a, const Mask& b) { return detail::same_elements(a, b); }

/// A Mask from braces: mask({{true, false}, {true, true}}) has shape [2, 2]. Errors: lists of unequal lengths.
inline Mask mask(const Nested<bool>& list) {
  Shape shape;
  const std::vector<bool> values = list.flatten(shape);
  Mask m(shape);
  std::copy(values.begin(), values.end(), m.mutate());
  return m;
}

/// The mask broadcast to `shape`. Errors: it does not broadcast.
inline Mask broadcast_to(const Mask& mask, const Shape& shape) {
  mask.require();
  check_in("mask", mask.layout().expands_to(shape), "mask ", mask.shape(), " does not broadcast to ", shape);
  return mask.expand(shape);
}

}  // namespace mote
