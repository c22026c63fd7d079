// Comparisons, which return Masks, and the ops that select by them: where, masked_fill, maximum, clamp.
#pragma once

#include <algorithm>
#include <concepts>
#include <limits>

#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "engine/array/strided_loop.h"
#include "engine/autograd/op.h"

namespace mote {

namespace detail {
/// Calls f(i) for the elements of a loop that only compares and selects.
template <class F>
void each_element(Index count, const F& f) {
  parallel_for(count, grain_for(0.5), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) f(i);
  });
}

template <class F>
Mask compare(OpName name, const Array& a, const Array& b, F f) {
  const Op op(name);
  const Shape shape = broadcast(a.shape(), b.shape());
  const Array x = a.expand(shape).contiguous(), z = b.expand(shape).contiguous();
  Mask m(shape);
  std::uint8_t* const out = m.mutate();
  const real *const left = x.data(), *const right = z.data();
  each_element(m.numel(), [=](Index i) { out[i] = f(left[i], right[i]); });
  return m;
}

/// y = x where the mask is `when`; both broadcast to y's shape.
inline void put_where(Array& y, const Mask& mask, bool when, const Array& x) {
  const StridedLoop loop(y.shape(), mask.layout().expand(y.shape()).strides(), x.layout().expand(y.shape()).strides());
  const Index step = loop.inner_a(), x_step = loop.inner_b();
  real* const out = y.mutate();
  loop.run(y.numel(), 0.5, [&](Index mask_at, Index x_at, Index at, Index n) {
    const std::uint8_t* const m = mask.data() + mask_at;
    const real* const from = x.data() + x_at;
    real* const to = out + at;
    const bool put_all = step == 0 && (*m != 0) == when;
    if (step == 1 && x_step == 1) {  // a loop over adjacent elements becomes a few vector instructions
      for (Index i = 0; i < n; ++i) to[i] = (m[i] != 0) == when ? from[i] : to[i];
    } else if (step == 1 && x_step == 0) {
      const real value = *from;
      for (Index i = 0; i < n; ++i) to[i] = (m[i] != 0) == when ? value : to[i];
    } else if (step != 0 || put_all) {
      for (Index i = 0; i < n; ++i) to[i] = (m[i * step] != 0) == when ? from[i * x_step] : to[i];
    }
  });
}
/// x, but 0 where the mask is `when`.
inline Array zero_where(const Array& x, const Mask& mask, bool when) {
  Array y = x.contiguous();
  put_where(y, mask, when, Array(real(0)));
  return y;
}
}  // namespace detail

/// Where ids equal, or differ from, one id: ids [...] -> [...]. For padded rows, key_padding(ids != pad) is attention's
/// mask. ids == other_ids, in contrast, is a single bool.
inline Mask operator==(const IntArray& ids, Index id) {
  const IntArray in = ids.contiguous();
  Mask m(in.shape());
  std::transform(in.data(), in.data() + in.numel(), m.mutate(), [id](Index x) { return std::uint8_t(x == id); });
  return m;
}
inline Mask operator!=(const IntArray& ids, Index id) { return ~(ids == id); }
/// Where two arrays of ids agree: [...], [...] -> [...]. mean(tensor(eq(argmax(logits), targets))) is the accuracy.
/// Errors: shapes that differ.
inline Mask eq(const IntArray& a, const IntArray& b) {
  a.require("eq");
  b.require("eq");
  check_in("eq", a.shape() == b.shape(), "ids ", a.shape(), " and ", b.shape(), " differ in shape");
  const IntArray x = a.contiguous(), y = b.contiguous();
  Mask m(x.shape());
  std::transform(x.data(), x.data() + x.numel(), y.data(), m.mutate(),
                 [](Index i, Index j) { return std::uint8_t(i == j); });
  return m;
}

/// Element-wise comparisons with broadcasting; they return a Mask and have no gradient. NaN compares false (!=: true).
inline Mask operator<(const Tensor& a, const Tensor& b) {
  return detail::compare("less", a.array(), b.array(), std::less<real>());
}
inline Mask operator<=(const Tensor& a, const Tensor& b) {
  return detail::compare("less_equal", a.array(), b.array(), std::less_equal<real>());
}
inline Mask operator>(const Tensor& a, const Tensor& b) {
  return detail::compare("greater", a.array(), b.array(), std::greater<real>());
}
inline Mask operator>=(const Tensor& a, const Tensor& b) {
  return detail::compare("greater_equal", a.array(), b.array(), std::greater_equal<real>());
}
inline Mask operator==(const Tensor& a, const Tensor& b) {
  return detail::compare("equal", a.array(), b.array(), std::equal_to<real>());
}
inline Mask operator!=(const Tensor& a, const Tensor& b) {
  return detail::compare("not_equal", a.array(), b.array(), std::not_equal_to<real>());
}

/// a where the mask is true, b elsewhere; all three broadcast. Errors: shapes that do not broadcast.
inline Tensor where(const Mask& mask, const Tensor& a, const Tensor& b) {
  Op op("where", a, b);
  const Shape shape = broadcast(broadcast(a.shape(), b.shape()), mask.shape());
  Array y = copy_of(b.array().expand(shape));
  detail::put_where(y, mask, true, a.array());
  return op.record(y, save(mask), [](const Array& dy, Grads& dx, const Mask& mask) {
    if (dx.wants(0)) dx.add(0, detail::zero_where(dy, mask, false));
    if (dx.wants(1)) dx.add(1, detail::zero_where(dy, mask, true));
  });
}

// PyTorch's (x > 0) * x: a mask is not a number here.
template <std::same_as<Mask> M>
__attribute__((unavailable("a mask selects: write where(mask, x, 0)"))) Tensor operator*(const M&, const Tensor&);
template <std::same_as<Mask> M>
__attribute__((unavailable("a mask selects: write where(mask, x, 0)"))) Tensor operator*(const Tensor&, const M&);
template <std::same_as<Mask> M>
__attribute__((unavailable("write ~mask for the opposite mask, where(mask, 0, 1) for numbers"))) Tensor operator-(
    const Tensor&, const M&);
template <std::same_as<Mask> M>
__attribute__((unavailable("write where(mask, 1, 0) to make numbers of a mask"))) Tensor operator+(const M&,
                                                                                                   const Tensor&);
template <std::same_as<Mask> M>
__attribute__((unavailable("write where(mask, 1, 0) to make numbers of a mask"))) Tensor operator+(const Tensor&,
                                                                                                   const M&);

/// x with `value` wherever the mask is true; the gradient there is 0. The mask broadcasts to x's shape.
/// Errors: a mask that does not broadcast.
inline Tensor masked_fill(const Tensor& x, const Mask& mask, double fill) {
  const real value = static_cast<real>(fill);
  Op op("masked_fill", x);
  if (op.watch()) op.watch()->infinity_on_purpose();  // its purpose is filling with -infinity before a softmax
  const Mask blocked = broadcast_to(mask, x.shape());
  Array y = x.array().contiguous();
  detail::put_where(y, blocked, true, Array(value));
  return op.record(y, save(blocked), [](const Array& dy, Grads& dx, const Mask& blocked) {
    dx.add(0, detail::zero_where(dy, blocked, true));
  });
}

namespace detail {
/// a's share of the gradient of max(a, b): 1 where a is larger, 0 where it is smaller, 1/2 where they are equal; beside
/// NaN all of it, as in PyTorch, so that a NaN does not look like a zero gradient.
inline Array larger_share(const Array& a, const Array& b) {
  const Shape shape = broadcast(a.shape(), b.shape());
  Array share = copy_of(a.expand(shape));
  const Array other = b.expand(shape).contiguous();
  real* const out = share.mutate();
  const real* const against = other.data();
  each_element(share.numel(), [=](Index i) {
    out[i] = out[i] == against[i] ? real(0.5) : out[i] < against[i] ? real(0) : real(1);
  });
  return share;
}
}  // namespace detail

/// The larger of a and b, element by element with broadcasting; NaN wins. Where they are equal each gets half the
/// gradient, as in PyTorch.
inline Tensor maximum(const Tensor& a, const Tensor& b) {
  Op op("maximum", a, b);
  Array y = zip(kernels::table().maximum, a.array(), b.array());
  return op.record(y, save(a, b), [](const Array& dy, Grads& dx, const Array& a, const Array& b) {
    if (dx.wants(0)) dx.add(0, dy * detail::larger_share(a, b));
    if (dx.wants(1)) dx.add(1, dy * detail::larger_share(b, a));
  });
}

/// The smaller of a and b; the rest as maximum.
inline Tensor minimum(const Tensor& a, const Tensor& b) {
  Op op("minimum", a, b);
  Array y = zip(kernels::table().minimum, a.array(), b.array());
  return op.record(y, save(a, b), [](const Array& dy, Grads& dx, const Array& a, const Array& b) {
    if (dx.wants(0)) dx.add(0, dy * detail::larger_share(b, a));
    if (dx.wants(1)) dx.add(1, dy * detail::larger_share(a, b));
  });
}

/// x limited to [lowest, highest]; NaN stays NaN. The gradient is 1 inside and at the limits, 0 outside, as PyTorch's.
/// Errors: lowest above highest, or NaN.
inline Tensor clamp(const Tensor& x, double lowest, double highest = std::numeric_limits<double>::infinity()) {
  Op op("clamp", x);
  check(lowest <= highest, "the lower limit ", lowest, " must be at most the upper limit ", highest);
  const real low = static_cast<real>(lowest), high = static_cast<real>(highest);
  const Array limited = zip(kernels::table().maximum, x.array(), Array(low));
  return op.record(zip(kernels::table().minimum, limited, Array(high)), save(x, low, high),
                   [](const Array& dy, Grads& dx, const Array& x, real low, real high) {
                     Array d = copy_of(dy);
                     const Array at = x.contiguous();
                     real* const out = d.mutate();
                     const real* const in = at.data();
                     detail::each_element(d.numel(),
                                          [=](Index i) { out[i] = in[i] >= low && in[i] <= high ? out[i] : real(0); });
                     dx.add(0, d);
                   });
}

}  // namespace mote
