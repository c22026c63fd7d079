// exp, log, pow, tanh, gelu and others, written once over V: 16 lanes (simd.h) or one (math.cpp), of float or double.
// They share one order of operations, so all give the same bits.
#pragma once

#include "engine/base/math_constants.h"

namespace mote {
namespace {

template <class V>
using ConstantsOf = Constants<typename V::Real>;
template <class V>
using BitsOf = typename V::Bits;

/// `magnitude` (not negative) with the sign of `sign`: keeps odd functions odd, down to f(-0) = -0.
template <class V>
MOTE_INLINE V with_sign_of(V magnitude, V sign) {
  return as_real(bits(magnitude) | (bits(sign) & bits(V(typename V::Real(-0.0)))));
}

/// A sum of two values, the second at most half a unit in the last place of the first: twice the digits.
template <class V>
struct DoubleDouble {
  V hi, lo;
};

/// a + b exactly (Knuth).
template <class V>
MOTE_INLINE DoubleDouble<V> two_sum(V a, V b) {
  const V sum = a + b, b_seen = sum - a;
  return {sum, (a - (sum - b_seen)) + (b - b_seen)};
}
/// The same in fewer operations, if |a| >= |b| or a is 0 (Dekker).
template <class V>
MOTE_INLINE DoubleDouble<V> fast_two_sum(V a, V b) {
  const V sum = a + b;
  return {sum, b - (sum - a)};
}

// exp(x) = 2^n exp(r), where n is the integer nearest to x / ln 2 and r is the rest, |r| <= ln(2)/2.

template <class V>
struct PowerAndRest {
  BitsOf<V> power;  // n + offset in the lowest bits, those of magic above them
  V rest;
};
/// For |x| up to a few hundred. `offset` makes n the exponent field of a power of two, which a shift puts in place.
template <int offset, class V>
MOTE_INLINE PowerAndRest<V> split_by_ln2(V x) {
  using C = ConstantsOf<V>;
  const V magic(C::magic + typename V::Real(offset)), shifted = fma(x, V(C::log2_e), magic), n = shifted - magic;
  return {bits(shifted), fma(n, V(-C::ln2_lo), fma(n, V(-C::ln2_hi), x))};
}

/// x between the bounds beyond which exp(x) is 0 or infinite; NaN stays NaN.
template <class V>
MOTE_INLINE V inside_exp(V x) {
  using C = ConstantsOf<V>;
  return lesser_of(V(C::exp_high), greater_of(V(C::exp_low), x));
}

/// exp(r) and exp(r) - 1.
template <class V>
MOTE_INLINE V exp_rest(V r) {
  return fma(fma(polynomial(r, ConstantsOf<V>::exp), r, V(1)), r, V(1));
}
template <class V>
MOTE_INLINE V expm1_rest(V r) {
  return fma(r * r, polynomial(r, ConstantsOf<V>::exp), r);
}

/// 2^(biased - bias). Only the lowest bits of `biased` count.
template <class V>
MOTE_INLINE V power_of_two(BitsOf<V> biased) {
  return as_real(biased << ConstantsOf<V>::mantissa);
}

/// y 2^n with power = n + 2 bias, in two steps, because 2^n itself may overflow or underflow. Only the last step can
/// round.
template <class V>
MOTE_INLINE V times_power(V y, BitsOf<V> power) {
  const BitsOf<V> first = power >> 1;
  return y * power_of_two<V>(first) * power_of_two<V>(power - first);
}

template <class V>
MOTE_INLINE V v_exp(V x) {
  const PowerAndRest<V> p = split_by_ln2<2 * int(ConstantsOf<V>::bias)>(inside_exp(x));
  return times_power(exp_rest(p.rest), p.power);
}

/// exp(x) - 1 = 2^n expm1(r) + (2^n - 1). Far from 0 the 1 is rounded away, or all that is left.
template <class V>
MOTE_INLINE V v_expm1(V x) {
  const V far = V(64), near = lesser_of(far, greater_of(-far, x));
  const PowerAndRest<V> p = split_by_ln2<int(ConstantsOf<V>::bias)>(near);
  const V power = power_of_two<V>(p.power);
  const V y = select(abs(x) < far, fma(expm1_rest(p.rest), power, power - V(1)), v_exp(x) - V(1));
  return select(x == V(0), x, y);
}

/// exp(x) for x <= 0 or NaN: the bits of v_exp in fewer operations, as 2^n cannot overflow.
template <class V>
MOTE_INLINE V v_exp_below(V x) {
  using C = ConstantsOf<V>;
  const PowerAndRest<V> p = split_by_ln2<int(C::bias) + C::exp_headroom>(greater_of(V(C::exp_low), x));
  const V shrink = power_of_two<V>(BitsOf<V>(C::bias - C::exp_headroom));
  return exp_rest(p.rest) * power_of_two<V>(p.power) * shrink;
}

/// exp(x.hi + x.lo).
template <class V>
MOTE_INLINE V exp_of(DoubleDouble<V> x) {
  const PowerAndRest<V> p = split_by_ln2<2 * int(ConstantsOf<V>::bias)>(inside_exp(x.hi));
  const V finite = V(ConstantsOf<V>::exp_high);  // beyond it x.lo may be inf - inf and is ignored
  return times_power(exp_rest(p.rest + select(abs(x.hi) < finite, x.lo, V(0))), p.power);
}

/// Within 2.6 ulp, never beyond 1: tanh|x| = e / (e + 2) with e = exp(2|x|) - 1 = 2^n expm1(r) + (2^n - 1), where 2^n
/// neither overflows nor is below 1.
template <class V>
MOTE_INLINE V v_tanh(V x) {
  using C = ConstantsOf<V>;
  const V a = lesser_of(V(C::tanh_high), abs(x));
  const PowerAndRest<V> p = split_by_ln2<int(C::bias)>(a + a);
  const V power = power_of_two<V>(p.power);
  const V e = fma(expm1_rest(p.rest), power, power - V(1));
  return with_sign_of(e / (e + V(2)), x);
}

/// -|x|.
template <class V>
MOTE_INLINE V minus_abs(V x) {
  return as_real(bits(x) | bits(V(typename V::Real(-0.0))));
}

/// Within 2.4 ulp, down to subnormal results: 1 / (1 + exp(-x)), for negative x as exp(x) / (1 + exp(x)): nothing
/// overflows or cancels.
template <class V>
MOTE_INLINE V v_sigmoid(V x) {
  const V e = v_exp_below(minus_abs(x));
  return select(x < V(0), e, V(1)) / (V(1) + e);
}

// log(x) = e ln 2 + log(1 + f) with x = 2^e (1 + f) and 1 + f between sqrt(1/2) and sqrt(2).
// log(1 + f) = 2 artanh(s) = 2s + s^3 p(s^2) with s = f / (2 + f): the series with every second term missing.

template <class V>
struct ExponentAndRest {
  V exponent, one_plus_f;
  BitsOf<V> biased;  // the exponent + bias
};
template <class V>
MOTE_INLINE ExponentAndRest<V> split_by_two(V x) {
  using C = ConstantsOf<V>;
  using B = BitsOf<V>;
  using Real = typename V::Real;
  const auto tiny = x < V(C::smallest_normal);
  const V scaled = select(tiny, x * V(C::two_mantissa), x);
  const V offset = select(tiny, V(C::two_mantissa + Real(C::bias + C::mantissa)), V(C::two_mantissa + Real(C::bias)));
  const B biased = (bits(scaled) + B(C::one - C::sqrt_half)) >> C::mantissa;
  const V exponent = as_real(biased | bits(V(C::two_mantissa))) - offset;  // the integer placed in the low bits of 2^23
  return {exponent, as_real(bits(scaled) - (biased << C::mantissa) + B(C::one)), biased};
}

/// e ln 2 + log(1 + f + low), where low is too small to change f. The large parts are added last
/// (2s = f - s f = f - f^2/2 + s f^2/2).
template <class V>
MOTE_INLINE V log_of_parts(V e, V f, V low) {
  using C = ConstantsOf<V>;
  const V s = f / (V(2) + f), z = s * s, half_square = V(typename V::Real(0.5)) * f * f;
  const V small = fma(s, fma(z, polynomial(z, C::log), half_square), fma(e, V(C::ln2_lo), low));
  return fma(e, V(C::ln2_hi), f - (half_square - small));
}

/// log_x for finite x > 0, and the values that IEEE 754 requires at the ends.
template <class V>
MOTE_INLINE V with_ends_of_log(V x, V log_x) {
  using C = ConstantsOf<V>;
  const V upper = select(x < V(C::inf), log_x, x);  // inf and NaN unchanged
  return select(x == V(0), V(-C::inf), select(x < V(0), V(C::nan), upper));
}

template <class V>
MOTE_INLINE V v_log(V x) {
  const ExponentAndRest<V> p = split_by_two(x);
  return with_ends_of_log(x, log_of_parts(p.exponent, p.one_plus_f - V(1), V(0)));
}

/// log(1 + x): 1 + x is rounded, and a correction of f restores what the rounding lost.
template <class V>
MOTE_INLINE V v_log1p(V x) {
  using C = ConstantsOf<V>;
  using B = BitsOf<V>;
  const auto [u, lost] = two_sum(V(1), x);
  const ExponentAndRest<V> p = split_by_two(u);
  const V scale = power_of_two<V>(B(2 * C::bias) - p.biased);
  const V c = select(u < V(C::two_mantissa * C::two_mantissa), lost * scale, V(0));  // beyond, c is negligible
  const V near = p.one_plus_f - V(1), f = near + c, low = (near - f) + c;
  const V y = with_ends_of_log(u, log_of_parts(p.exponent, f, fma(-low, f, low)));  // approximately low / (1 + f)
  return select(x == V(0), x, y);
}

/// log(x) with about 13 bits more than the type has, for pow: the same series, with the first two terms as
/// DoubleDouble.
template <class V>
MOTE_INLINE DoubleDouble<V> log_in_double_double(V x) {
  using C = ConstantsOf<V>;
  const ExponentAndRest<V> p = split_by_two(x);
  const V f = p.one_plus_f - V(1), d = V(2) + f, d_lo = f - (d - V(2));
  const V s = f / d, s_lo = fma(-s, d_lo, fma(-s, d, f)) / d;
  const V z = s * s, z_lo = fma(s + s, s_lo, fma(s, s, -z));
  const V cube = s * z, cube_lo = fma(s, z_lo, fma(s_lo, z, fma(s, z, -cube)));
  const DoubleDouble<V> c = fast_two_sum(V(C::two_thirds_hi), fma(z, polynomial(z, C::log_tail), V(C::two_thirds_lo)));
  const V term = cube * c.hi, term_lo = fma(cube, c.lo, fma(cube_lo, c.hi, fma(cube, c.hi, -term)));
  const DoubleDouble<V> first = fast_two_sum(p.exponent * V(C::ln2_hi), s + s), sum = fast_two_sum(first.hi, term);
  return fast_two_sum(sum.hi, sum.lo + (first.lo + (term_lo + fma(p.exponent, V(C::ln2_lo), s_lo + s_lo))));
}

/// x^y as exp(y log|x|), then the sign and the special cases of C99's pow.
template <class V>
MOTE_INLINE V v_pow(V x, V y) {
  using C = ConstantsOf<V>;
  using B = BitsOf<V>;
  const V ax = abs(x), ay = abs(y), zero(0), one(1), inf(C::inf), whole(C::two_mantissa);
  const auto always_one = (y == zero) | (x == one) | ((ax == one) & (ay == inf));
  const V power = select(always_one, one, y);  // 0 * log(0), whose NaN would be ignored, may trap; so may inf - inf
  const DoubleDouble<V> log_x = log_in_double_double(ax);
  const V log_hi = with_ends_of_log(ax, log_x.hi), p = power * log_hi;
  const auto finite = abs(p) < inf;
  const V lost = fma(power, select(finite, log_hi, zero), select(finite, -p, zero));
  const V magnitude = exp_of(DoubleDouble<V>{p, lost + power * log_x.lo});

  const V rounded = select(ay < whole, ay + whole, ay);  // from 2^23 on every float is whole, from 2^24 on even
  const auto is_whole = (whole <= ay) | (rounded - whole == ay);
  const auto is_odd = is_whole & (ay < whole + whole) & ((bits(rounded) & B(1)) == B(1));
  const V result = select(is_odd, with_sign_of(magnitude, x), magnitude);
  const auto no_answer = (x < zero) & (-inf < x) & ~is_whole;
  return select(always_one, one, select(no_answer, V(C::nan), result));
}

/// sigmoid(x) and 1 - sigmoid(x) = sigmoid(-x), without the cancellation of the difference.
template <class V>
struct Logistic {
  V value, rest;
};
template <class V>
MOTE_INLINE Logistic<V> v_logistic(V x) {
  const V e = v_exp_below(minus_abs(x)), larger = V(1) / (V(1) + e), smaller = e * larger;
  const auto negative = x < V(0);
  return {select(negative, smaller, larger), select(negative, larger, smaller)};
}

/// A function and its derivative at the same x; what is not used costs nothing.
template <class V>
struct ValueAndSlope {
  V value, slope;
};

/// x for the product of x and a function that is exactly 0 from -1e4 down: -infinity times 0 would be NaN.
template <class V>
MOTE_INLINE V above_vanishing(V x) {
  return greater_of(V(typename V::Real(-1e4)), x);
}

/// x Phi(x), with Phi the normal distribution function, and its derivative Phi(x) + x exp(-x^2/2) / sqrt(2 pi). For
/// a >= 0, Phi(-a) = exp(-a^2/2) q(a), where q varies slowly and smoothly, and Phi(a) = 1 - Phi(-a); the derivative has
/// the same symmetry. So one exponential and one polynomial are all that both need.
template <class V>
MOTE_INLINE ValueAndSlope<V> v_gelu(V x) {
  using C = ConstantsOf<V>;
  using Real = typename V::Real;
  const V a = lesser_of(V(C::normal_high), abs(x)), decay = v_exp_below(x * x * V(Real(-0.5)));
  const V q = polynomial(a, C::normal), below = decay * q;
  const V slope_below = decay * fma(a, V(Real(-0.39894228040143267794)), q);
  const auto negative = x < V(0);
  return {above_vanishing(x) * select(negative, below, V(1) - below),
          select(negative, slope_below, V(1) - slope_below)};
}

/// x s(x) with the sigmoid s, and its derivative s (1 + x (1 - s)).
template <class V>
MOTE_INLINE ValueAndSlope<V> v_silu(V x) {
  const Logistic<V> s = v_logistic(x);
  const V low = above_vanishing(x), near = lesser_of(V(typename V::Real(1e4)), low);  // beyond 1e4 s.rest is exactly 0
  return {low * v_sigmoid(x), s.value * fma(near, s.rest, V(1))};
}

/// x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), GPT-2's approximation of x Phi(x), which is x s(2u); and
/// its derivative s (1 + x (1 - s) 2u').
template <class V>
MOTE_INLINE ValueAndSlope<V> v_gelu_tanh(V x) {
  using Real = typename V::Real;
  constexpr Real linear = Real(1.59576912160573071176), cubic = Real(0.07135481627260024878);  // of 2u
  const V twice_u = x * fma(x * x, V(cubic), V(linear));
  const Logistic<V> s = v_logistic(twice_u);
  // Beyond 1e4 s is exactly 0 or 1, and powers of x could be infinite: 0 times infinity is no number.
  const V low = above_vanishing(x), near = lesser_of(V(Real(1e4)), low);
  const V u_slope = fma(near * near, V(3 * cubic), V(linear));
  return {low * v_sigmoid(twice_u), s.value * fma(near * s.rest, u_slope, V(1))};
}

}  // namespace
}  // namespace mote
