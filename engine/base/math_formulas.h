// exp, log, pow, tanh, gelu and others as templates over V, which is a vector of 16 lanes (simd.h) or one number
// (math.cpp), of float or double. Vectors and single numbers go through the same operations in the same order, so their
// results have the same bits.
#pragma once

#include "engine/base/math_constants.h"

namespace mote {
namespace {

template <class V>
using ConstantsOf = Constants<typename V::Real>;
template <class V>
using BitsOf = typename V::Bits;

/// Returns `magnitude`, which must not be negative, with the sign of `sign`. This keeps odd functions odd, including
/// f(-0) = -0.
template <class V>
MOTE_INLINE V with_sign_of(V magnitude, V sign) {
  return as_real(bits(magnitude) | (bits(sign) & bits(V(typename V::Real(-0.0)))));
}

/// A number as the sum hi + lo, which has twice the digits of V. |lo| is at most half a unit in the last place of hi.
template <class V>
struct DoubleDouble {
  V hi, lo;
};

/// a + b as hi + lo, without rounding error (Knuth's two-sum).
template <class V>
MOTE_INLINE DoubleDouble<V> two_sum(V a, V b) {
  const V sum = a + b, b_seen = sum - a;
  return {sum, (a - (sum - b_seen)) + (b - b_seen)};
}
/// Like two_sum, in fewer operations. Requires that |a| >= |b| or that a is 0 (Dekker's fast two-sum).
template <class V>
MOTE_INLINE DoubleDouble<V> fast_two_sum(V a, V b) {
  const V sum = a + b;
  return {sum, b - (sum - a)};
}

// exp(x) = 2^n exp(r), where n is the integer nearest to x / ln 2 and r = x - n ln 2, so that |r| <= ln(2)/2.

template <class V>
struct PowerAndRest {
  BitsOf<V> power;  // n + offset in the lowest bits; the higher bits are those of the constant `magic`
  V rest;
};
/// Splits x into n ln 2 + r, for |x| up to a few hundred. The integer `offset` is added to n. If it is the bias of the
/// exponent field, power_of_two() turns the sum into 2^n with one shift.
template <int offset, class V>
MOTE_INLINE PowerAndRest<V> split_by_ln2(V x) {
  using C = ConstantsOf<V>;
  const V magic(C::magic + typename V::Real(offset)), shifted = fma(x, V(C::log2_e), magic), n = shifted - magic;
  return {bits(shifted), fma(n, V(-C::ln2_lo), fma(n, V(-C::ln2_hi), x))};
}

/// x limited to the range outside of which exp(x) is 0 or infinite. NaN stays NaN.
template <class V>
MOTE_INLINE V inside_exp(V x) {
  using C = ConstantsOf<V>;
  return lesser_of(V(C::exp_high), greater_of(V(C::exp_low), x));
}

/// exp_rest(r) is exp(r) and expm1_rest(r) is exp(r) - 1, for |r| <= ln(2)/2.
template <class V>
MOTE_INLINE V exp_rest(V r) {
  return fma(fma(polynomial(r, ConstantsOf<V>::exp), r, V(1)), r, V(1));
}
template <class V>
MOTE_INLINE V expm1_rest(V r) {
  return fma(r * r, polynomial(r, ConstantsOf<V>::exp), r);
}

/// 2^(biased - bias), where `bias` is that of the exponent field. Only the lowest bits of `biased` count, because the
/// shift drops the others.
template <class V>
MOTE_INLINE V power_of_two(BitsOf<V> biased) {
  return as_real(biased << ConstantsOf<V>::mantissa);
}

/// Returns y 2^n, where `power` is n plus twice the bias of the exponent field. y is multiplied in two steps, because
/// 2^n itself may overflow or underflow. Only the second step can round.
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

/// exp(x) - 1, computed as 2^n expm1(r) + (2^n - 1) for |x| < 64. For larger |x|, exp(x) - 1 rounds to exp(x) or to -1,
/// so it is computed as v_exp(x) - 1.
template <class V>
MOTE_INLINE V v_expm1(V x) {
  const V far = V(64), near = lesser_of(far, greater_of(-far, x));
  const PowerAndRest<V> p = split_by_ln2<int(ConstantsOf<V>::bias)>(near);
  const V power = power_of_two<V>(p.power);
  const V y = select(abs(x) < far, fma(expm1_rest(p.rest), power, power - V(1)), v_exp(x) - V(1));
  return select(x == V(0), x, y);
}

/// exp(x) for x <= 0 or NaN. Gives the bits of v_exp in fewer operations, because 2^n cannot overflow.
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
  // x.lo is dropped if |x.hi| is not below exp_high, because x.lo may then be inf - inf = NaN.
  const V finite = V(ConstantsOf<V>::exp_high);
  return times_power(exp_rest(p.rest + select(abs(x.hi) < finite, x.lo, V(0))), p.power);
}

/// tanh(x), within 2.6 ulp and never beyond 1 in magnitude. tanh|x| = e / (e + 2) with e = exp(2|x|) - 1. e is computed
/// as 2^n expm1(r) + (2^n - 1), where 2^n is at least 1 and does not overflow.
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

/// sigmoid(x) = 1 / (1 + exp(-x)), within 2.4 ulp, subnormal results included. For negative x it is computed as
/// exp(x) / (1 + exp(x)), so that nothing overflows or cancels.
template <class V>
MOTE_INLINE V v_sigmoid(V x) {
  const V e = v_exp_below(minus_abs(x));
  return select(x < V(0), e, V(1)) / (V(1) + e);
}

// log(x) = e ln 2 + log(1 + f) with x = 2^e (1 + f) and 1 + f between sqrt(1/2) and sqrt(2).
// log(1 + f) = 2 artanh(s) = 2s + s^3 p(s^2) with s = f / (2 + f) and a polynomial p. The series has only odd powers
// of s.

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
  const V exponent = as_real(biased | bits(V(C::two_mantissa))) - offset;  // the OR gives 2^mantissa + biased
  return {exponent, as_real(bits(scaled) - (biased << C::mantissa) + B(C::one)), biased};
}

/// e ln 2 + log(1 + f) + low, where `low` is tiny. With s = f / (2 + f), log(1 + f) begins with the term
/// 2s = f - s f = f - f^2/2 + s f^2/2. So the large terms f and e ln 2 can be added last.
template <class V>
MOTE_INLINE V log_of_parts(V e, V f, V low) {
  using C = ConstantsOf<V>;
  const V s = f / (V(2) + f), z = s * s, half_square = V(typename V::Real(0.5)) * f * f;
  const V small = fma(s, fma(z, polynomial(z, C::log), half_square), fma(e, V(C::ln2_lo), low));
  return fma(e, V(C::ln2_hi), f - (half_square - small));
}

/// Returns log_x if x is finite and above 0. For any other x, returns the value that IEEE 754 requires for log(x).
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

/// log(1 + x). The sum 1 + x is rounded to u = 2^e (1 + f), and `lost` is the rounding error. f is corrected by
/// lost / 2^e.
template <class V>
MOTE_INLINE V v_log1p(V x) {
  using C = ConstantsOf<V>;
  using B = BitsOf<V>;
  const auto [u, lost] = two_sum(V(1), x);
  const ExponentAndRest<V> p = split_by_two(u);
  const V scale = power_of_two<V>(B(2 * C::bias) - p.biased);
  const V c = select(u < V(C::two_mantissa * C::two_mantissa), lost * scale, V(0));  // for larger u, c is negligible
  const V near = p.one_plus_f - V(1), f = near + c, low = (near - f) + c;
  // log(1 + f + low) is about log(1 + f) + low / (1 + f), and low / (1 + f) is about low (1 - f).
  const V y = with_ends_of_log(u, log_of_parts(p.exponent, f, fma(-low, f, low)));
  return select(x == V(0), x, y);
}

/// log(x) for pow, with about 13 bits more than the type has. The series is that of v_log, with the first two terms as
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
  // 0 * log(0) and inf - inf could trap. So y becomes 1 where the result is 1 anyway, and `lost` is computed from
  // finite numbers.
  const V power = select(always_one, one, y);
  const DoubleDouble<V> log_x = log_in_double_double(ax);
  const V log_hi = with_ends_of_log(ax, log_x.hi), p = power * log_hi;
  const auto finite = abs(p) < inf;
  const V lost = fma(power, select(finite, log_hi, zero), select(finite, -p, zero));
  const V magnitude = exp_of(DoubleDouble<V>{p, lost + power * log_x.lo});

  // The lowest bit of ay + whole tells whether ay, rounded to an integer, is odd. From `whole` on all numbers are
  // integers, and from 2 whole on they are even.
  const V rounded = select(ay < whole, ay + whole, ay);
  const auto is_whole = (whole <= ay) | (rounded - whole == ay);
  const auto is_odd = is_whole & (ay < whole + whole) & ((bits(rounded) & B(1)) == B(1));
  const V result = select(is_odd, with_sign_of(magnitude, x), magnitude);
  const auto no_answer = (x < zero) & (-inf < x) & ~is_whole;
  return select(always_one, one, select(no_answer, V(C::nan), result));
}

/// value = sigmoid(x) and rest = 1 - sigmoid(x) = sigmoid(-x), without the cancellation of a difference.
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

/// A function and its derivative at the same x. A field that the caller does not use costs nothing, because the
/// function is inlined.
template <class V>
struct ValueAndSlope {
  V value, slope;
};

/// The larger of x and -1e4. Used in the product of x and a function that is exactly 0 for x <= -1e4, because there
/// -infinity times 0 would be NaN.
template <class V>
MOTE_INLINE V above_vanishing(V x) {
  return greater_of(V(typename V::Real(-1e4)), x);
}

/// gelu(x) = x Phi(x), with the normal distribution function Phi, and its derivative
/// Phi(x) + x exp(-x^2/2) / sqrt(2 pi). For a >= 0, Phi(-a) = exp(-a^2/2) q(a), where q varies slowly and smoothly,
/// and Phi(a) = 1 - Phi(-a). The derivative has the same symmetry, so one exponential and one polynomial suffice.
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

/// silu(x) = x s and its derivative s (1 + x (1 - s)), where s = sigmoid(x).
template <class V>
MOTE_INLINE ValueAndSlope<V> v_silu(V x) {
  const Logistic<V> s = v_logistic(x);
  const V low = above_vanishing(x), near = lesser_of(V(typename V::Real(1e4)), low);  // beyond 1e4 s.rest is exactly 0
  return {low * v_sigmoid(x), s.value * fma(near, s.rest, V(1))};
}

/// GPT-2's tanh approximation of gelu, x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), and its derivative.
/// With s = sigmoid(2u) the function equals x s, and its derivative is s (1 + x (1 - s) 2u').
template <class V>
MOTE_INLINE ValueAndSlope<V> v_gelu_tanh(V x) {
  using Real = typename V::Real;
  constexpr Real linear = Real(1.59576912160573071176), cubic = Real(0.07135481627260024878);  // the coefficients of 2u
  const V twice_u = x * fma(x * x, V(cubic), V(linear));
  const Logistic<V> s = v_logistic(twice_u);
  // For |x| > 1e4, s is exactly 0 or 1. Powers of x could be infinite there, and 0 times infinity would be NaN.
  const V low = above_vanishing(x), near = lesser_of(V(Real(1e4)), low);
  const V u_slope = fma(near * near, V(3 * cubic), V(linear));
  return {low * v_sigmoid(twice_u), s.value * fma(near * s.rest, u_slope, V(1))};
}

}  // namespace
}  // namespace mote
