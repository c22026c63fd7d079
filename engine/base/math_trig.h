// Sine and cosine as templates over V, like the functions of math_formulas.h.
#pragma once

#include "engine/base/math_formulas.h"

namespace mote {
namespace {

/// An angle as quadrant * pi/2 + (hi + lo), |hi| <= pi/4. Only the last two bits of the quadrant matter.
template <class V>
struct Angle {
  V hi, lo;
  BitsOf<V> quadrant;
};

/// x - n pi/2 as the sum hi + lo, where n is the integer nearest to x / (pi/2). pi/2 is the sum of three constants
/// (Cody and Waite). The fused multiply-add subtracts the first product without a rounding error. lo keeps the digits
/// that rounding the second product and hi would lose. Near a multiple of pi/2 only those digits remain.
template <class V>
MOTE_INLINE Angle<V> reduce(V x) {
  using C = ConstantsOf<V>;
  const V shifted = fma(x, V(C::two_over_pi), V(C::magic)), n = shifted - V(C::magic);
  const V a = fma(n, V(-C::half_pi[0]), x);
  const V b = n * V(-C::half_pi[1]), b_lost = fma(n, V(-C::half_pi[1]), -b);
  const auto [hi, sum_lost] = two_sum(a, b);
  return {hi, fma(n, V(-C::half_pi[2]), sum_lost + b_lost), bits(shifted)};
}

/// 2/pi = 0.a2f9836e4e44... in base 2^32.
constexpr std::uint32_t two_over_pi_words[37] = {
    0xa2f9836e, 0x4e441529, 0xfc2757d1, 0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab, 0xdebbc561,
    0xb7246e3a, 0x424dd2e0, 0x06492eea, 0x09d1921c, 0xfe1deb1c, 0xb129a73e, 0xe88235f5, 0x2ebb4484,
    0xe99c7026, 0xb45f7e41, 0x3991d639, 0x835339f4, 0x9c845f8b, 0xbdf9283b, 0x1ff897ff, 0xde05980f,
    0xef2f118b, 0x5a0a6d1f, 0x6d367ecf, 0x27cb09b7, 0x4f463f66, 0x9e5fea2d, 0x7527bac7, 0xebe5f17b,
    0x3d0739f7, 0x8a5292ea, 0x6bfb5fb1, 0x1f8d5d08, 0x56033046};

struct HugeAngle {
  double hi, lo;
  std::uint32_t quadrant;
};

/// Bits [at, at + 64) of an integer that consists of 32-bit limbs, the lowest first.
inline std::uint64_t window(const std::uint32_t* limb, int at) {
  const int i = at / 32, shift = at % 32;
  const std::uint64_t low = limb[i] | std::uint64_t(limb[i + 1]) << 32;
  return shift == 0 ? low : low >> shift | std::uint64_t(limb[i + 2]) << (64 - shift);
}

/// The angle sign * (hi + lo/2^64) / 2^64 * pi/2 in the given quadrant. hi is not 0.
inline HugeAngle times_half_pi(std::uint64_t hi, std::uint64_t lo, double sign, std::uint32_t quadrant) {
  using C = Constants<double>;
  const int zeros = __builtin_clzll(hi);
  if (zeros > 0) {
    hi = hi << zeros | lo >> (64 - zeros);
    lo <<= zeros;
  }
  const double scale = __builtin_bit_cast(double, (C::bias - 53 - std::uint64_t(zeros)) << 52) * sign;
  const double a = double(hi >> 11) * scale;  // a is the first 53 bits of hi and lo, and b is the next 53
  const double b = double((hi & 0x7ff) << 42 | lo >> 22) * scale * 0x1p-53;
  const double y = a * C::half_pi[0];
  const double y_lost = __builtin_fma(a, C::half_pi[0], -y);
  const double rest = __builtin_fma(b, C::half_pi[0], __builtin_fma(a, C::half_pi[1], y_lost));
  const double sum = y + rest;
  return {sum, rest - (sum - y), quadrant};
}

/// Like reduce, for any finite |x| >= 2^17 (Payne and Hanek). x is m 2^e with an integer m, and m times 2/pi is
/// computed in integers. Digits of 2/pi that contribute multiples of 4 quadrants, which are full turns, are left out.
/// So are digits that contribute less than the last digit of the result.
inline HugeAngle reduce_huge(double x) {
  const std::uint64_t pattern = __builtin_bit_cast(std::uint64_t, x);
  const std::uint64_t m = (pattern & ((std::uint64_t(1) << 52) - 1)) | std::uint64_t(1) << 52;
  const int e = int(pattern >> 52 & 0x7ff) - 1075, first = e < 2 ? 0 : (e - 2) / 32;

  std::uint32_t limb[11] = {};  // the mantissa m of x times seven words of 2/pi, the lowest limb first
  for (int half = 0; half < 2; ++half) {
    std::uint64_t sum = 0;  // a product of two words plus the limb plus the carry fits into 64 bits
    for (int i = half; i < half + 7; ++i, sum >>= 32) {
      sum += (m >> 32 * half & 0xffffffffu) * two_over_pi_words[first + 6 - i + half] + limb[i];
      limb[i] = std::uint32_t(sum);
    }
    limb[half + 7] = std::uint32_t(sum);
  }

  const int point = 32 * (first + 7) - e;  // this many bits follow the binary point
  std::uint32_t quadrant = std::uint32_t(window(limb, point) & 3);
  std::uint64_t hi = window(limb, point - 64), lo = window(limb, point - 128);
  const bool round_up = hi >> 63 != 0;  // if so, the next multiple of pi/2 is nearer
  if (round_up) {
    lo = 0 - lo;
    hi = ~hi + (lo == 0 ? 1u : 0u);
    ++quadrant;
  }
  const bool negative = pattern >> 63 != 0;
  return times_half_pi(hi, lo, round_up != negative ? -1.0 : 1.0, negative ? 0 - quadrant : quadrant);
}

/// Computes the angle with reduce_huge() in the lanes whose |x| is out of range for reduce(). Such lanes are rare, so
/// this function works lane by lane and is not inlined.
template <class V>
__attribute__((noinline)) void reduce_huge_lanes(const V& x, Angle<V>& angle) {
  using C = ConstantsOf<V>;
  using Real = typename V::Real;
  Real xs[V::lanes], hi[V::lanes], lo[V::lanes], quadrant[V::lanes];
  x.store(xs);
  angle.hi.store(hi);
  angle.lo.store(lo);
  as_real(angle.quadrant).store(quadrant);
  for (int i = 0; i < V::lanes; ++i) {
    const Real magnitude = xs[i] < 0 ? -xs[i] : xs[i];
    if (!(magnitude > C::angle_high && magnitude < C::inf)) continue;
    const HugeAngle h = reduce_huge(double(xs[i]));
    hi[i] = Real(h.hi);
    lo[i] = Real((h.hi - double(hi[i])) + h.lo);
    quadrant[i] = __builtin_bit_cast(Real, typename C::UInt(h.quadrant));
  }
  angle = {V::load(hi), V::load(lo), bits(V::load(quadrant))};
}

template <class V>
MOTE_INLINE V sin_of_rest(V hi, V lo, V z) {
  const V from_lo = fma(z * V(typename V::Real(-0.5)), lo, lo);  // about cos(hi) lo
  return hi + fma(z * hi, polynomial(z, ConstantsOf<V>::sin), from_lo);
}

template <class V>
MOTE_INLINE V cos_of_rest(V hi, V lo, V z) {
  const V half(typename V::Real(0.5)), h = half * z, w = V(1) - h, w_lost = (V(1) - w) - h;
  // Two small terms of the cosine: sin(hi) lo, which is about hi lo, and half the rounding error of z = hi^2.
  const V from_lo = fma(hi, lo, half * fma(hi, hi, -z));
  return w + (w_lost + fma(z * z, polynomial(z, ConstantsOf<V>::cos), -from_lo));
}

/// sin(x + turns * pi/2).
template <class V>
MOTE_INLINE V sin_with_turns(V x, BitsOf<V> turns) {
  using C = ConstantsOf<V>;
  using B = BitsOf<V>;
  Angle<V> angle = reduce(x);
  if (any((V(C::angle_high) < abs(x)) & (abs(x) < V(C::inf)))) [[unlikely]]
    reduce_huge_lanes(x, angle);
  const V z = angle.hi * angle.hi;
  const B quadrant = angle.quadrant + turns;
  const V y = select((quadrant & B(1)) == B(0), sin_of_rest(angle.hi, angle.lo, z), cos_of_rest(angle.hi, angle.lo, z));
  return as_real(bits(y) ^ ((quadrant & B(2)) << (C::width - 2)));  // quadrants 2 and 3 change the sign
}

template <class V>
MOTE_INLINE V v_sin(V x) {
  return select(x == V(0), x, sin_with_turns(x, BitsOf<V>(0)));
}
template <class V>
MOTE_INLINE V v_cos(V x) {
  return sin_with_turns(x, BitsOf<V>(1));
}

}  // namespace
}  // namespace mote
