// exp, log, sqrt, sin, cos, abs, rounding, powers and remainders, element by element.
#pragma once

#include <cmath>

#include "engine/array/combine.h"
#include "engine/array/mask.h"
#include "engine/ops/activation.h"
#include "engine/ops/arithmetic.h"

namespace mote {

/// e^x. Above 88.72 (float) the result is infinity.
inline Tensor exp(const Tensor& x) {
  return detail::function("exp", x, kernels::table().exp, kernels::table().mul, detail::Saved::result);  // dx = dy y
}

/// The natural logarithm, which is -infinity at 0 and NaN below 0.
inline Tensor log(const Tensor& x) {
  return detail::function("log", x, kernels::table().log, kernels::table().div, detail::Saved::input);  // dx = dy / x
}

/// The logarithms to base 10 and to base 2: log(x) / ln 10 and log(x) / ln 2.
inline Tensor log10(const Tensor& x) { return log(x) * 0.43429448190325183; }
inline Tensor log2(const Tensor& x) { return log(x) * 1.4426950408889634; }

/// log(1 + x) without loss of digits near 0. It is -infinity at -1 and NaN below -1.
inline Tensor log1p(const Tensor& x) {
  return pointwise(
      "log1p", x, [](real x) { return math::log1p(x); }, [](real x) { return 1 / (1 + x); });
}

/// e^x - 1 without loss of digits near 0.
inline Tensor expm1(const Tensor& x) {
  return pointwise(
      "expm1", x, [](real x) { return math::expm1(x); }, [](real x) { return math::exp(x); });
}

/// The square root, which is NaN below 0. Its gradient 1 / (2 sqrt(x)) is infinite at 0.
inline Tensor sqrt(const Tensor& x) {
  Op op("sqrt", x);
  Array y = map(kernels::table().sqrt, x.array());
  return op.record(y, save(y), [](const Array& dy, Grads& dx, const Array& y) { dx.add(0, dy / (y * real(2))); });
}

/// Sine of an angle in radians.
inline Tensor sin(const Tensor& x) {
  Op op("sin", x);
  return op.record(map(kernels::table().sin, x.array()), save(x),
                   [](const Array& dy, Grads& dx, const Array& x) { dx.add(0, dy * map(kernels::table().cos, x)); });
}

/// Cosine of an angle in radians.
inline Tensor cos(const Tensor& x) {
  Op op("cos", x);
  return op.record(map(kernels::table().cos, x.array()), save(x),
                   [](const Array& dy, Grads& dx, const Array& x) { dx.add(0, -(dy * map(kernels::table().sin, x))); });
}

/// |x|. The gradient at 0 is 0, as in PyTorch.
inline Tensor abs(const Tensor& x) {
  Op op("abs", x);
  return op.record(map(kernels::table().abs, x.array()), save(x),
                   [](const Array& dy, Grads& dx, const Array& x) { dx.add(0, dy * map(kernels::table().sign, x)); });
}

namespace detail {
/// The op y = f(x) of a piecewise constant f. The gradient is 0 everywhere, as in PyTorch.
template <class F>
Tensor steps(OpName name, const Tensor& x, const F& f) {
  Op op(name, x);
  return op.record(combine<Array>(x.array(), f),
                   [](const Array& dy, Grads& dx) { dx.add(0, Array::zeros(dy.shape())); });
}
}  // namespace detail

/// x rounded down (floor), up (ceil), or to the nearest whole number (round). Halves are rounded to the even
/// neighbour. NaN and infinities stay. The gradient is 0.
inline Tensor floor(const Tensor& x) {
  return detail::steps("floor", x, [](real x) { return std::floor(x); });
}
inline Tensor ceil(const Tensor& x) {
  return detail::steps("ceil", x, [](real x) { return std::ceil(x); });
}
inline Tensor round(const Tensor& x) {
  return detail::steps("round", x, [](real x) { return std::nearbyint(x); });
}
/// x rounded to `decimals` digits after the point: round(x 10^decimals) / 10^decimals. decimals = -1 rounds to tens.
/// Errors: decimals outside [-30, 30].
inline Tensor round(const Tensor& x, Integer decimals) {
  check_in("round", decimals >= -30 && decimals <= 30, "decimals ", decimals, " must be from -30 to 30");
  const real ten = math::pow(real(10), static_cast<real>(std::abs(Index(decimals))));
  const bool digits = decimals > 0;
  return detail::steps("round", x, [ten, digits](real x) {
    return digits ? std::nearbyint(x * ten) / ten : std::nearbyint(x / ten) * ten;
  });
}

/// The sign of x: 1, 0 or -1. It is 0 for NaN, as in PyTorch. The gradient is 0.
inline Tensor sign(const Tensor& x) {
  return detail::steps("sign", x, [](real x) { return static_cast<real>((x > 0) - (x < 0)); });
}

namespace detail {
inline Array power(const Array& base, real exponent) {
  if (exponent == 1) return base;  // common exponents take no logarithm, which is far faster
  if (exponent == 2) return base * base;
  if (exponent == 3) return base * base * base;
  if (exponent == real(0.5)) return map(kernels::table().sqrt, base);
  if (exponent == -1) return real(1) / base;
  return zip(kernels::table().pow, base, exponent);
}
}  // namespace detail

/// x^exponent for one fixed exponent, a plain number. A negative x gives NaN unless the exponent is an integer. The
/// gradient is exponent x^(exponent - 1), and 0 for exponent 0.
inline Tensor pow(const Tensor& x, Number auto power_of_x) {
  Op op("pow", x);
  const real exponent = static_cast<real>(power_of_x);
  x.array().require();  // needed for x^1, which runs no kernel that checks whether x is defined
  return op.record(detail::power(x.array(), exponent), save(x, exponent),
                   [](const Array& dy, Grads& dx, const Array& x, real exponent) {
                     const bool flat = exponent == 0;
                     dx.add(0, flat ? Array::zeros(x.shape()) : dy * (detail::power(x, exponent - 1) * exponent));
                   });
}

/// a^b, element by element with broadcasting. d/da = b a^(b-1), d/db = a^b log(a) (0 where a is 0 and b >= 0).
inline Tensor pow(const Tensor& a, const Tensor& b) {
  Op op("pow", a, b);
  Array y = zip(kernels::table().pow, a.array(), b.array());
  return op.record(y, save(a, b, y), [](const Array& dy, Grads& dx, const Array& a, const Array& b, const Array& y) {
    if (dx.wants(0)) {
      const Array slope = b * zip(kernels::table().pow, a, b - real(1));
      // where b is 0 the power is the constant 1, but 0 * 0^-1 would be NaN
      dx.add(0, dy * combine<Array>(slope, b, [](real s, real exponent) { return exponent == 0 ? real(0) : s; }));
    }
    if (dx.wants(1)) {
      const Array slope = y * map(kernels::table().log, a);
      const Mask flat = combine<Mask>(a, b, [](real base, real exponent) { return base == 0 && exponent >= 0; });
      dx.add(1, dy * combine<Array>(slope, flat, [](real s, auto zero) { return zero != 0 ? real(0) : s; }));
    }
  });
}

namespace detail {
/// The remainder of a divided by b, with the sign of b. It is rounded at most once.
inline real remainder_of(real a, real b) {
  const real rest = std::fmod(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
/// floor(a / b), correct even where the quotient a / b would be rounded up to a whole number.
inline real floor_quotient(real a, real b) {
  if (b == 0) return a / b;
  const real rest = std::fmod(a, b), quotient = (a - rest) / b;
  return std::nearbyint(rest != 0 && (rest < 0) != (b < 0) ? quotient - 1 : quotient);
}
}  // namespace detail

/// a - floor(a / b) b, element by element with broadcasting, as Python's %. The result has the sign of b. NaN where b
/// is 0. d/da = 1, d/db = -floor(a / b). Errors: shapes that do not broadcast.
inline Tensor remainder(const Tensor& a, const Tensor& b) {
  Op op("remainder", a, b);
  const Array y = combine<Array>(a.array(), b.array(), detail::remainder_of);
  return op.record(y, save(a, b), [](const Array& dy, Grads& dx, const Array& a, const Array& b) {
    if (dx.wants(0)) dx.add(0, dy);
    if (dx.wants(1)) dx.add(1, -(dy * combine<Array>(a, b, detail::floor_quotient)));
  });
}
inline Tensor operator%(const Tensor& a, const Tensor& b) { return remainder(a, b); }
inline Tensor operator%(const Tensor& x, Number auto s) { return remainder(x, Tensor(s)); }

}  // namespace mote
