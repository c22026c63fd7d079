// Creates tensors: from lists as tutorials write them, from indices and masks, filled, or as ranges.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <type_traits>

#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "engine/autograd/op.h"
#include "engine/base/math.h"

namespace mote {

/// A tensor of the numbers in braces. tensor({{0.43, 0.15}, {0.55, 0.87}}) has the shape [2, 2], and tensor(3.0) has
/// rank 0. A std::vector, nested or not, works like braces. Errors: lists of unequal lengths.
inline Tensor tensor(const Nested<double>& list) {
  const Op op("tensor");
  Shape shape;
  const std::vector<double> values = list.flatten(shape);
  const std::vector<real> narrowed(values.begin(), values.end());
  return Array(shape, narrowed);
}

/// Converts indices, or a mask as 0 and 1, to a tensor. tensor(x > 0) is PyTorch's (x > 0).float(). Integers above
/// 2^24 (2^53 if `real` is double) are rounded.
template <class A>
requires(std::is_same_v<A, IntArray> || std::is_same_v<A, Mask>) Tensor tensor(const A& values) {
  const A in = values.contiguous();
  Array y = Array::empty(in.shape());
  std::transform(in.data(), in.data() + in.numel(), y.mutate(), [](auto x) { return static_cast<real>(x); });
  return y;
}

/// Converts a tensor to integers without its fractions, as PyTorch's x.long(). ints(mask) has 1 where the mask is true,
/// and 0 elsewhere. Errors: a number that is not finite or does not fit into 64 bits.
template <std::same_as<Tensor> T>
IntArray ints(const T& x) {
  return combine<IntArray>(x.array(), [](real value) {
    check_in("ints", value >= real(-0x1p63) && value < real(0x1p63), value, " is no integer of 64 bits");
    return static_cast<Index>(value);
  });
}
template <std::same_as<Mask> M>
IntArray ints(const M& mask) {
  return combine<IntArray>(mask, [](auto value) { return Index(value != 0); });
}

template <std::same_as<IntArray> I>
__attribute__((unavailable("integers are no floats: write x + tensor(ids)"))) Tensor operator+(const Tensor&, const I&);
template <std::same_as<IntArray> I>
__attribute__((unavailable("integers are no floats: write tensor(ids) + x"))) Tensor operator+(const I&, const Tensor&);
template <std::same_as<IntArray> I>
__attribute__((unavailable("integers are no floats: write x - tensor(ids)"))) Tensor operator-(const Tensor&, const I&);
template <std::same_as<IntArray> I>
__attribute__((unavailable("integers are no floats: write tensor(ids) - x"))) Tensor operator-(const I&, const Tensor&);
template <std::same_as<IntArray> I>
__attribute__((unavailable("integers are no floats: write x * tensor(ids)"))) Tensor operator*(const Tensor&, const I&);
template <std::same_as<IntArray> I>
__attribute__((unavailable("integers are no floats: write tensor(ids) * x"))) Tensor operator*(const I&, const Tensor&);

/// zeros(2, 3) is a compile error, because a shape is written in braces: zeros({2, 3}).
template <std::integral I, class... A>
__attribute__((unavailable("write zeros({2, 3})"))) Tensor zeros(I, A&&...);
template <std::integral I, class... A>
__attribute__((unavailable("write ones({2, 3})"))) Tensor ones(I, A&&...);

/// A tensor of this shape: all 0, all 1, or all of one value.
inline Tensor zeros(const Shape& shape) { return Array::zeros(shape); }
inline Tensor ones(const Shape& shape) { return Array::full(shape, 1, "ones"); }
inline Tensor full(const Shape& shape, Real value) { return Array::full(shape, static_cast<real>(value)); }

/// A tensor with the shape of x: all 0, all 1, or all of one value.
inline Tensor zeros_like(const Tensor& x) { return zeros(x.shape()); }
inline Tensor ones_like(const Tensor& x) { return ones(x.shape()); }
inline Tensor full_like(const Tensor& x, Real value) { return full(x.shape(), value); }
inline IntArray zeros_like(const IntArray& x) { return IntArray(x.shape()); }
inline IntArray ones_like(const IntArray& x) { return IntArray(x.shape(), 1); }

/// The values start, start + step, ... up to but not including end. They equal PyTorch's with AVX2, bit for bit.
/// PyTorch rounds the first value of each block of 8 floats or 4 doubles, and computes the others of the block
/// from it, as long as two whole blocks are left. The remaining values are start + i step. Errors: a step of 0 or away
/// from end.
inline Tensor arange(Real start, Real end, Real step = 1) {
  check_in("arange", step != 0 && (end - start) / step >= 0, "step ", step, " never leads from ", start, " to ", end);
  const double steps = std::ceil((end - start) / step);
  check_in("arange", steps < 0x1p53, "too many steps from ", start, " to ", end, " by ", step);
  const Index count = static_cast<Index>(steps);
  Array y = Array::empty({count}, "arange");
  real* const out = y.mutate();
  const auto from = [&](double base, Index i) {
    return static_cast<real>(std::fma(static_cast<double>(step), static_cast<double>(i), base));
  };
  constexpr Index block = 32 / sizeof(real);
  const Index in_blocks = count / (2 * block) * (2 * block);
  for (Index i = 0; i < in_blocks; ++i) {
    const Index base = i / block * block;
    out[i] = from(static_cast<double>(from(start, base)), i - base);
  }
  for (Index i = in_blocks; i < count; ++i) out[i] = from(start, i);
  return y;
}
/// The values 0, 1, ... below end.
inline Tensor arange(Real end) { return arange(0, end); }

/// `steps` values from start to end, both included. They are computed from each end towards the middle, as in
/// PyTorch. Errors: steps below 0, a distance from start to end that `real` cannot hold.
inline Tensor linspace(Real start, Real end, Integer steps) {
  check_in("linspace", steps >= 0, "steps ", steps, " must be at least 0");
  const real first = static_cast<real>(start), last = static_cast<real>(end);
  check_in("linspace", std::isfinite(last - first), "the distance from ", start, " to ", end, " must be finite");
  Array y = Array::empty({steps}, "linspace");
  real* const out = y.mutate();
  const real step = steps > 1 ? (last - first) / static_cast<real>(steps - 1) : real(0);
  for (Index i = 0; i < steps; ++i)
    out[i] = i < steps / 2 || steps == 1 ? std::fma(step, static_cast<real>(i), first)
                                         : std::fma(-step, static_cast<real>(steps - 1 - i), last);
  return y;
}

/// The identity matrix [n, n].
inline Tensor eye(Integer n) {
  const Op op("eye");
  Array y = Array::zeros({n, n});
  real* const out = y.mutate();
  for (Index i = 0; i < n; ++i) out[i * n + i] = 1;
  return y;
}

}  // namespace mote
