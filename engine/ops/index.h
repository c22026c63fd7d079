// Gather, choosing along an axis by an index for every element.
#pragma once

#include "engine/array/int_array.h"
#include "engine/autograd/op.h"

namespace mote {

namespace detail {
/// Where element `number` of gather's result comes from, in an x of these strides.
inline Index gathered(const Array::Strides& strides, const IntArray& index, int axis, Index number) {
  Index at = index.data()[number] * strides[static_cast<std::size_t>(axis)];
  for (int i = index.rank() - 1; i >= 0; --i) {
    if (i != axis) at += number % index.shape()[i] * strides[static_cast<std::size_t>(i)];
    number /= index.shape()[i];
  }
  return at;
}
}  // namespace detail

/// y[..., i, ...] = x[..., index[..., i, ...], ...] along `axis`. index has x's rank and nowhere a larger extent except
/// along `axis`; the result has index's shape. The gradient adds up where an index stands twice, in row-major order.
/// Errors: another rank, an index outside [0, extent).
inline Tensor gather(const Tensor& x, int axis, const IntArray& index) {
  Op op("gather", x);
  const int a = x.shape().axis(axis);
  check(index.rank() == x.dim(), "index ", index.shape(), " must have the rank of x ", x.shape());
  for (int i = 0; i < x.dim(); ++i)
    check(i == a || index.shape()[i] <= x.shape()[i], "index ", index.shape(), " is larger than x ", x.shape(),
          " along axis ", i);
  const Index extent = x.shape()[a];
  for (const Index i : index.values())
    check(i >= 0 && i < extent, "index ", i, " is out of range for axis ", axis, " of ", x.shape());
  const Array in = x.array().contiguous();
  const Array::Strides strides = row_major(x.shape());
  Array y = Array::empty(index.shape());
  real* const out = y.mutate();
  for (Index i = 0; i < y.numel(); ++i) out[i] = in.data()[detail::gathered(strides, index, a, i)];
  op.flops(0, {y.numel()});
  return op.record(y, save(x.shape(), index, a),
                   [](const Array& dy, Grads& dx, const Shape& shape, const IntArray& index, int a) {
                     const Array::Strides strides = row_major(shape);
                     Array d = Array::zeros(shape);
                     real* const to = d.mutate();
                     const Array g = dy.contiguous();
                     for (Index i = 0; i < g.numel(); ++i) to[detail::gathered(strides, index, a, i)] += g.data()[i];
                     dx.add(0, d);
                   });
}

}  // namespace mote
