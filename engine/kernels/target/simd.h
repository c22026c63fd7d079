// Vec, a vector of 16 values, with its comparisons (Mask) and its bit patterns (Bits). The width is 16 on every
// machine, so that every machine performs the same additions in the same order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "engine/base/real.h"

// This file is compiled once per instruction set into one program. An ordinary inline function would be emitted
// several times, and the linker would keep any one of them, perhaps the AVX-512 one, for all. Hence the anonymous
// namespaces, and forced inlining so that an unoptimised build does not differ.
#define MOTE_INLINE inline __attribute__((always_inline))

#if defined(MOTE_TARGET_AVX512)
#include "engine/kernels/target/lanes_avx512.h"
#elif defined(MOTE_TARGET_AVX2)
#include "engine/kernels/target/lanes_avx2.h"
#elif defined(MOTE_TARGET_NEON)
#include "engine/kernels/target/lanes_neon.h"
#else
#include "engine/kernels/target/lanes_portable.h"
#endif
#include "engine/kernels/target/lanes_pair.h"

namespace mote {
namespace {

template <class R, int lanes = R::lanes>
struct Sixteen {
  using Type = typename Sixteen<PairOf<R>>::Type;
};
template <class R>
struct Sixteen<R, 16> {
  using Type = R;
};

/// 16 values. Members: load(p), load_first(p, n), load_strided(p, stride), load_strided_first(p, stride, n), store(p),
/// store_first(p, n), zero(), iota() = 0 1 2 ... 15. A real converts to 16 copies of itself. No memory need be
/// aligned, and the `first` forms touch only the first n elements (0 <= n <= 16; the other lanes are 0).
/// Also: + - * / fma(a, b, c) = a*b + c rounded once, sqrt(a), select(mask, if_true, if_false), bits(a), as_real(b).
using Vec = Sixteen<Reg>::Type;

/// 16 truth values: & | ~ any(m). Comparisons return them; a comparison with NaN is false, only != is true.
using Mask = Vec::Mask;

/// 16 unsigned integers of the same width as real: + - & | ^ ~ == shl<k>(b) shr<k>(b).
using Bits = Vec::Bits;
using UInt = Bits::UInt;

static_assert(sizeof(Vec) == 16 * sizeof(real));

MOTE_INLINE Mask operator>(Vec a, Vec b) { return b < a; }
MOTE_INLINE Mask operator>=(Vec a, Vec b) { return b <= a; }
MOTE_INLINE Mask operator!=(Vec a, Vec b) { return ~(a == b); }
MOTE_INLINE Mask is_nan(Vec x) { return x != x; }

constexpr UInt sign_bit = UInt(1) << (8 * sizeof(real) - 1);
MOTE_INLINE Vec operator-(Vec x) { return as_real(bits(x) ^ Bits(sign_bit)); }  // 0 - x would lose the sign of 0
MOTE_INLINE Vec abs(Vec x) { return as_real(bits(x) & Bits(~sign_bit)); }

MOTE_INLINE Vec& operator+=(Vec& a, Vec b) { return a = a + b; }
MOTE_INLINE Vec& operator-=(Vec& a, Vec b) { return a = a - b; }
MOTE_INLINE Vec& operator*=(Vec& a, Vec b) { return a = a * b; }
MOTE_INLINE Vec& operator/=(Vec& a, Vec b) { return a = a / b; }

/// The larger / the smaller one, NaN if either is NaN, and of two equal values (+0 and -0) the second. Machine
/// instructions with these names differ in how they treat NaN and -0.
MOTE_INLINE Vec maximum(Vec a, Vec b) { return select(b < a, a, select(is_nan(a), a, b)); }
MOTE_INLINE Vec minimum(Vec a, Vec b) { return select(a < b, a, select(is_nan(a), a, b)); }
MOTE_INLINE real maximum(real a, real b) { return b < a || a != a ? a : b; }
MOTE_INLINE real minimum(real a, real b) { return a < b || a != a ? a : b; }

/// Reduces 16 values to one in a fixed tree: lane i with lane i+8, then i+4, i+2, i+1. The order is part of the result.
template <class Combine>
MOTE_INLINE real tree(Vec x, Combine combine) {
  real t[16];
  x.store(t);
  for (int i = 0; i < 8; ++i) t[i] = combine(t[i], t[i + 8]);
  for (int i = 0; i < 4; ++i) t[i] = combine(t[i], t[i + 4]);
  for (int i = 0; i < 2; ++i) t[i] = combine(t[i], t[i + 2]);
  return combine(t[0], t[1]);
}
struct Add {
  MOTE_INLINE real operator()(real a, real b) const { return a + b; }
};
struct Larger {
  MOTE_INLINE real operator()(real a, real b) const { return maximum(a, b); }
};
struct Smaller {
  MOTE_INLINE real operator()(real a, real b) const { return minimum(a, b); }
};
MOTE_INLINE real sum_tree(Vec x) { return tree(x, Add()); }
MOTE_INLINE real max_tree(Vec x) { return tree(x, Larger()); }
MOTE_INLINE real min_tree(Vec x) { return tree(x, Smaller()); }

}  // namespace
}  // namespace mote
