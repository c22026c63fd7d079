// Comparisons, which return Masks, and the ops that select by them: where, masked_fill, maximum, clamp.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <limits>

#include "engine/array/combine.h"
#include "engine/array/int_array.h"
#include "engine/array/integers.h"
#include "engine/array/mask.h"
#include "engine/autograd/op.h"

namespace mote {

namespace detail {
template <class F>
Mask compare(OpName name, const Tensor& a, const Tensor& b, F f) {
  const Op op(name);
  return combine<Mask>(a.array(), b.array(), f);
}

/// x with 0 where the mask equals `when`.
inline Array zero_where(const Array& x, const Mask& mask, bool when) {
  return combine<Array>(x, mask, [when](real value, auto m) { return (m != 0) == when ? real(0) : value; });
}
}  // namespace detail

/// Element-wise comparisons with broadcasting. They return a Mask and have no gradient. With NaN only != is true.
inline Mask operator<(const Tensor& a, const Tensor& b) { return detail::compare("less", a, b, std::less<real>()); }
inline Mask operator<=(const Tensor& a, const Tensor& b) {
  return detail::compare("less_equal", a, b, std::less_equal<real>());
}
inline Mask operator>(const Tensor& a, const Tensor& b) {
  return detail::compare("greater", a, b, std::greater<real>());
}
inline Mask operator>=(const Tensor& a, const Tensor& b) {
  return detail::compare("greater_equal", a, b, std::greater_equal<real>());
}
inline Mask operator==(const Tensor& a, const Tensor& b) {
  return detail::compare("equal", a, b, std::equal_to<real>());
}
inline Mask operator!=(const Tensor& a, const Tensor& b) {
  return detail::compare("not_equal", a, b, std::not_equal_to<real>());
}

inline Mask operator<(const Tensor& x, Number auto s) { return x < Tensor(s); }
inline Mask operator<=(const Tensor& x, Number auto s) { return x <= Tensor(s); }
inline Mask operator>(const Tensor& x, Number auto s) { return x > Tensor(s); }
inline Mask operator>=(const Tensor& x, Number auto s) { return x >= Tensor(s); }
inline Mask operator==(const Tensor& x, Number auto s) { return x == Tensor(s); }
inline Mask operator!=(const Tensor& x, Number auto s) { return x != Tensor(s); }
inline Mask operator<(Number auto s, const Tensor& x) { return Tensor(s) < x; }
inline Mask operator<=(Number auto s, const Tensor& x) { return Tensor(s) <= x; }
inline Mask operator>(Number auto s, const Tensor& x) { return Tensor(s) > x; }
inline Mask operator>=(Number auto s, const Tensor& x) { return Tensor(s) >= x; }
inline Mask operator==(Number auto s, const Tensor& x) { return Tensor(s) == x; }
inline Mask operator!=(Number auto s, const Tensor& x) { return Tensor(s) != x; }

/// Whether shapes and elements are the same, as PyTorch's torch.equal; NaN is not equal to itself.
inline bool equal(const Tensor& a, const Tensor& b) {
  const Op op("equal", a, b);
  return a.shape() == b.shape() && a.to_vector() == b.to_vector();
}
/// Whether |a - b| <= atol + rtol |b| everywhere, with broadcasting. Infinities must be equal. NaN is not close to
/// any value. With equal_nan, NaN is close to NaN. Errors: shapes that do not broadcast.
inline bool allclose(const Tensor& a, const Tensor& b, Real rtol = 1e-5, Real atol = 1e-8, Flag equal_nan = false) {
  const Op op("allclose", a, b);
  const double relative = rtol, absolute = atol;
  const bool nans = equal_nan;
  const Mask close = combine<Mask>(a.array(), b.array(), [=](real x, real y) {
    const double distance = std::abs(static_cast<double>(x) - static_cast<double>(y));
    const double most = absolute + relative * std::abs(static_cast<double>(y));
    return x == y || (std::isfinite(x) && std::isfinite(y) && distance <= most) || (nans && x != x && y != y);
  });
  return all(close);
}

/// a where the mask is true, b elsewhere; all three broadcast. Errors: shapes that do not broadcast.
inline Tensor where(const Mask& mask, const Tensor& a, const Tensor& b) {
  Op op("where", a, b);
  const Shape shape = broadcast(broadcast(a.shape(), b.shape()), mask.shape());
  Array y = copy_of(b.array().expand(shape));
  real* const out = y.mutate();
  for_pairs(shape, mask, a.array(), [out](Index i, auto m, real value) { out[i] = m != 0 ? value : out[i]; });
  return op.record(y, save(mask), [](const Array& dy, Grads& dx, const Mask& mask) {
    if (dx.wants(0)) dx.add(0, detail::zero_where(dy, mask, false));
    if (dx.wants(1)) dx.add(1, detail::zero_where(dy, mask, true));
  });
}

// PyTorch allows (x > 0) * x. In mote a Mask is not a number, so arithmetic with it is a compile error that names the
// function to write.
template <std::same_as<Mask> M>
__attribute__((unavailable("a mask selects: write where(mask, x, 0)"))) Tensor operator*(const M&, const Tensor&);
template <std::same_as<Mask> M>
__attribute__((unavailable("a mask selects: write where(mask, x, 0)"))) Tensor operator*(const Tensor&, const M&);
template <std::same_as<Mask> M>
__attribute__((unavailable("write ~mask for the opposite mask, where(mask, 0, 1) for numbers"))) Tensor operator-(
    const Tensor&, const M&);

/// x with `fill` wherever the mask is true. The gradient of x is 0 there. The mask broadcasts to the shape of x.
/// Errors: a mask that does not broadcast.
inline Tensor masked_fill(const Tensor& x, const Mask& mask, Real fill) {
  const real value = static_cast<real>(fill);
  Op op("masked_fill", x);
  const Mask blocked = broadcast_to(mask, x.shape());
  Array y = combine<Array>(x.array(), blocked, [value](real x, auto m) { return m != 0 ? value : x; });
  return op.record(y, save(blocked), [](const Array& dy, Grads& dx, const Mask& blocked) {
    dx.add(0, detail::zero_where(dy, blocked, true));
  });
}

namespace detail {
/// The share of a in the gradient of max(a, b): 1 where a is larger, 0 where a is smaller, 1/2 where both are equal.
/// The share is 1 where a or b is NaN, as in PyTorch, so that a NaN does not look like a zero gradient.
inline Array larger_share(const Array& a, const Array& b) {
  return combine<Array>(a, b, [](real x, real y) { return x == y ? real(0.5) : x < y ? real(0) : real(1); });
}
/// Records y, the larger or the smaller of a and b. Where a and b are equal, each gets half the gradient.
inline Tensor record_extreme(Op& op, const Tensor& a, const Tensor& b, const Array& y, bool larger) {
  return op.record(y, save(a, b, larger), [](const Array& dy, Grads& dx, const Array& a, const Array& b, bool larger) {
    if (dx.wants(0)) dx.add(0, dy * (larger ? larger_share(a, b) : larger_share(b, a)));
    if (dx.wants(1)) dx.add(1, dy * (larger ? larger_share(b, a) : larger_share(a, b)));
  });
}
}  // namespace detail

/// The larger of a and b, element by element with broadcasting. The result is NaN where either is NaN. Where a and b
/// are equal, each gets half the gradient, as in PyTorch.
inline Tensor maximum(const Tensor& a, const Tensor& b) {
  Op op("maximum", a, b);
  return detail::record_extreme(op, a, b, zip(kernels::table().maximum, a.array(), b.array()), true);
}
/// The smaller of a and b. Broadcasting, gradients and NaN are as in maximum().
inline Tensor minimum(const Tensor& a, const Tensor& b) {
  Op op("minimum", a, b);
  return detail::record_extreme(op, a, b, zip(kernels::table().minimum, a.array(), b.array()), false);
}

/// x limited to [lowest, highest]. NaN stays NaN. The gradient is 1 inside and at the limits, and 0 outside, as in
/// PyTorch. Errors: lowest above highest, a limit that is NaN.
inline Tensor clamp(const Tensor& x, Real lowest, Real highest = std::numeric_limits<double>::infinity()) {
  Op op("clamp", x);
  check(lowest <= highest, "the lower limit ", lowest, " must be at most the upper limit ", highest);
  const real low = static_cast<real>(lowest), high = static_cast<real>(highest);
  const Array limited = zip(kernels::table().maximum, x.array(), low);
  return op.record(
      zip(kernels::table().minimum, limited, high), save(x, low, high),
      [](const Array& dy, Grads& dx, const Array& x, real low, real high) {
        dx.add(0, combine<Array>(dy, x, [=](real d, real at) { return at >= low && at <= high ? d : real(0); }));
      });
}

}  // namespace mote
