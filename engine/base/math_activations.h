// gelu in both forms and silu with their derivatives, over V as in math_formulas.h.
#pragma once

#include "engine/base/math_formulas.h"

namespace mote {
namespace {

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
  return {x * select(negative, below, V(1) - below), select(negative, slope_below, V(1) - slope_below)};
}

/// x s(x) with the sigmoid s, and its derivative s (1 + x (1 - s)).
template <class V>
MOTE_INLINE ValueAndSlope<V> v_silu(V x) {
  const Logistic<V> s = v_logistic(x);
  return {x * v_sigmoid(x), s.value * fma(x, s.rest, V(1))};
}

/// x/2 (1 + tanh(u)) with u = sqrt(2/pi) (x + 0.044715 x^3), GPT-2's approximation of x Phi(x), which is x s(2u); and
/// its derivative s (1 + x (1 - s) 2u').
template <class V>
MOTE_INLINE ValueAndSlope<V> v_gelu_tanh(V x) {
  using Real = typename V::Real;
  constexpr Real linear = Real(1.59576912160573071176), cubic = Real(0.07135481627260024878);  // of 2u
  // Beyond these s is exactly 0 or 1, and powers of x could overflow: 0 times infinity is no number.
  const V near = lesser_of(V(Real(1e4)), greater_of(V(Real(-1e4)), x));
  const V square = near * near, twice_u = near * fma(square, V(cubic), V(linear));
  const Logistic<V> s = v_logistic(twice_u);
  const V u_slope = fma(square, V(3 * cubic), V(linear));
  return {x * v_sigmoid(twice_u), s.value * fma(near * s.rest, u_slope, V(1))};
}

}  // namespace
}  // namespace mote
