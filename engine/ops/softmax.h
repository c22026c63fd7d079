// softmax (also masked) and log_softmax along an axis.
#pragma once

#include "engine/array/mask.h"
#include "engine/autograd/op.h"
#include "engine/base/parallel.h"
#include "engine/ops/cost.h"

namespace mote {
namespace detail {

/// Calls body(row number, offset of the row) for the rows of a contiguous array.
template <class Body>
void for_rows(const Shape& shape, Body body) {
  const Index n = shape[-1];
  if (shape.numel() == 0) return;
  parallel_for(shape.numel() / n, grain_for(cost::row + cost::exponential * static_cast<double>(n)),
               [&](Index lo, Index hi) {
                 for (Index row = lo; row < hi; ++row) body(row, row * n);
               });
}

/// The rows of `shape` in a mask that broadcasts to it.
struct MaskRows {
  Mask mask;  // a view of `shape`; each row's bytes are contiguous, as the kernel requires
  MaskRows(const Mask& m, const Shape& shape) : mask(broadcast_to(m, shape)) {
    if (shape[-1] == 1 || mask.stride(-1) == 1) return;
    const Shape rows = m.rank() ? m.shape().with(-1, shape[-1]) : Shape{shape[-1]};  // no more rows than m has
    mask = m.expand(rows).contiguous().expand(shape);
  }
  const std::uint8_t* row(Index number) const { return mask.data() + mask.layout().offset_of_part(number, 1); }
};

/// f(row number, the row of x, that of the result, n) for each row of n.
template <class F>
Array map_rows(const Array& x, const F& f) {
  const Array in = x.contiguous();
  Array y = Array::empty(in.shape());
  real* const out = y.mutate();
  for_rows(y.shape(), [&](Index row, Index at) { f(row, in.data() + at, out + at, y.shape()[-1]); });
  return y;
}

/// The gradient of softmax or log_softmax over rows y, contiguous; `backward` computes it for one row.
inline Array rows_backward(void (*backward)(const real* dy, const real* y, real* dx, Index n), const Array& dy,
                           const Array& y) {
  return map_rows(dy, [&](Index row, const real* g, real* dx, Index n) { backward(g, y.data() + row * n, dx, n); });
}

}  // namespace detail

/// exp(x) / sum(exp(x)) along an axis; the largest element is subtracted first, so nothing overflows. A row of
/// -infinity gives NaN, as in PyTorch; use a mask instead. Errors: an axis out of range.
inline Tensor softmax(const Tensor& x, int axis = -1) {
  Op op("softmax", x);
  check(x.dim() >= 1, "needs at least one axis");
  const auto f = kernels::table().softmax;
  const Array y = detail::map_rows(x.array().transpose(axis, -1), [f](Index, const real* from, real* to, Index n) {
    f(from, nullptr, to, nullptr, n);
  });
  op.flops(5 * y.numel(), {4 * y.numel()});  // maximum, difference, exp, sum, quotient
  return op.record(y.transpose(axis, -1), save(y, axis), [](const Array& dy, Grads& dx, const Array& y, int axis) {
    const Array d = detail::rows_backward(kernels::table().softmax_backward, dy.transpose(axis, -1), y);
    dx.add(0, d.transpose(axis, -1));
  });
}

/// Softmax over the elements of the last axis that the mask keeps; the others are exactly 0, whatever x holds there,
/// and so is their gradient, as long as no kept element is NaN. A row that keeps nothing is all zeros. The mask (true =
/// keep) broadcasts to x's shape.
/// Errors: a mask that does not broadcast.
inline Tensor masked_softmax(const Tensor& x, const Mask& keep) {
  Op op("masked_softmax", x);
  check(x.dim() >= 1, "needs at least one axis");
  const detail::MaskRows mask(keep, x.shape());
  const auto f = kernels::table().softmax;
  const Array y = detail::map_rows(
      x.array(), [&](Index row, const real* from, real* to, Index n) { f(from, mask.row(row), to, nullptr, n); });
  op.flops(5 * y.numel(), {4 * y.numel()});
  return op.record(y, save(y), [](const Array& dy, Grads& dx, const Array& y) {
    dx.add(0, detail::rows_backward(kernels::table().softmax_backward, dy, y));
  });
}

/// log(softmax(x)), computed as x - max - log(sum(exp(x - max))): exact where softmax would round to 0.
inline Tensor log_softmax(const Tensor& x, int axis = -1) {
  Op op("log_softmax", x);
  check(x.dim() >= 1, "needs at least one axis");
  const auto f = kernels::table().log_softmax;
  const Array y = detail::map_rows(x.array().transpose(axis, -1),
                                   [f](Index, const real* from, real* to, Index n) { f(from, to, n); });
  op.flops(5 * y.numel(), {4 * y.numel()});  // maximum, difference, exp, sum, quotient
  return op.record(y.transpose(axis, -1), save(y, axis), [](const Array& dy, Grads& dx, const Array& y, int axis) {
    const Array d = detail::rows_backward(kernels::table().log_softmax_backward, dy.transpose(axis, -1), y);
    dx.add(0, d.transpose(axis, -1));
  });
}

}  // namespace mote
