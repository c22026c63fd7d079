// Vec, a vector of 16 values, with its comparisons (Truths) and its bit patterns (Bits). The width is 16 on every
// machine, so that every machine performs the same additions in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/base/math_constants.h"

#ifndef MOTE_LANES  // CMake names the header of each instruction set; tests use the portable one
#define MOTE_LANES "engine/kernels/target/lanes_portable.h"
#endif
#include MOTE_LANES
#include "engine/kernels/target/lanes_pair.h"

namespace mote {
namespace {

/// A vector of 16 lanes: R itself, or R paired, and the pairs paired again, until there are 16 lanes.
template <class R>
auto sixteen() {
  if constexpr (R::lanes < 16) return sixteen<PairOf<R>>();
  if constexpr (R::lanes == 16) return R();
}

/// 16 values of type real. Members: load(p), load_first(p, n), store(p), store_first(p, n), zero(), and iota(), which
/// gives 0 1 2 ... 15. A real converts to 16 copies of itself. Memory need not be aligned. load_first and store_first
/// touch only the first n elements, 0 <= n <= 16, and load_first sets the other lanes to 0.
/// Also: + - * / fma(a, b, c) = a*b + c rounded once, sqrt(a), select(mask, if_true, if_false), bits(a), as_real(b);
/// greater_of(a, b) = b < a ? a : b and lesser_of(a, b) = a < b ? a : b, which give b if a or b is NaN.
using Vec = decltype(sixteen<Reg>());

/// 16 truth values, the result of a comparison, with & | ~ any(m). Every comparison with NaN is false, except that !=
/// is true.
using Truths = Vec::Truths;

/// 16 unsigned integers of the same width as real. They have + - & | ^ ==, and << and >> by one count for all.
using Bits = Vec::Bits;
using UInt = Bits::UInt;

static_assert(sizeof(Vec) == 16 * sizeof(real));

MOTE_INLINE Truths is_nan(Vec x) { return x != x; }

constexpr UInt sign_bit = UInt(1) << (8 * sizeof(real) - 1);
template <class V>
MOTE_INLINE V operator-(V x) {
  return as_real(bits(x) ^ typename V::Bits(sign_bit));  // 0 - x would lose the sign of 0
}
template <class V>
MOTE_INLINE V abs(V x) {
  return as_real(bits(x) & typename V::Bits(~sign_bit));
}

MOTE_INLINE Vec& operator+=(Vec& a, Vec b) { return a = a + b; }
MOTE_INLINE Vec& operator-=(Vec& a, Vec b) { return a = a - b; }

/// maximum gives the larger value and minimum the smaller one. Both give NaN if either is NaN, and b if the two are
/// equal (+0 and -0). Machine instructions with these names differ in how they treat NaN and -0. V is a Vec or one of
/// its parts.
template <class V>
MOTE_INLINE V maximum(V a, V b) {
  return select(a == a, greater_of(a, b), a);
}
template <class V>
MOTE_INLINE V minimum(V a, V b) {
  return select(a == a, lesser_of(a, b), a);
}

/// Reduces 16 values to one in a fixed tree: lane i with lane i+8, then i+4, i+2, i+1. The order is fixed, because the
/// bits of the result depend on it.
template <class V, class Combine>
MOTE_INLINE real tree(V x, Combine combine) {
  if constexpr (V::lanes > Reg::lanes) {
    return tree(combine(x.lo, x.hi), combine);
  } else {
    if constexpr (V::lanes > 8) x = combine(x, lanes_from<8>(x, LaneNumbers()));
    if constexpr (V::lanes > 4) x = combine(x, lanes_from<4>(x, LaneNumbers()));
    if constexpr (V::lanes > 2) x = combine(x, lanes_from<2>(x, LaneNumbers()));
    return combine(x, lanes_from<1>(x, LaneNumbers())).v[0];
  }
}
MOTE_INLINE real sum_tree(Vec x) {
  return tree(x, [](auto a, auto b) { return a + b; });
}
MOTE_INLINE real max_tree(Vec x) {
  return tree(x, [](auto a, auto b) { return maximum(a, b); });
}
MOTE_INLINE real min_tree(Vec x) {
  return tree(x, [](auto a, auto b) { return minimum(a, b); });
}
/// The value of the greatest lane. If any lane is NaN, the result may be the value of any lane.
MOTE_INLINE real greatest_tree(Vec x) {
  return tree(x, [](auto a, auto b) { return greater_of(a, b); });
}

}  // namespace
}  // namespace mote
