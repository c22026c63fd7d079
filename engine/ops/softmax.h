// softmax (also masked) and log_softmax along an axis.
#pragma once

#include <cmath>

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

/// The rows of a mask that is broadcast to `shape`.
struct MaskRows {
  Mask mask;  // a view with `shape`; each row's bytes are adjacent, as the kernel requires
  MaskRows(const Mask& m, const Shape& shape) : mask(broadcast_to(m, shape)) {
    if (shape[-1] == 1 || mask.stride(-1) == 1) return;
    const Shape rows = m.rank() ? m.shape().with(-1, shape[-1]) : Shape{shape[-1]};  // copies no more rows than m has
    mask = m.expand(rows).contiguous().expand(shape);
  }
  const std::uint8_t* row(Index number) const { return mask.data() + mask.layout().offset_of_part(number, 1); }
};

/// Calls f(row number, row of x, row of the result, n) for each row of n elements. Returns the result.
template <class F>
Array map_rows(const Array& x, const F& f) {
  const Array in = x.contiguous();
  Array y = Array::empty(in.shape());
  real* const out = y.mutate();
  for_rows(y.shape(), [&](Index row, Index at) { f(row, in.data() + at, out + at, y.shape()[-1]); });
  return y;
}

/// Records an op that computes each row along an axis by `forward`, as map_rows() does. The rule keeps the result y.
/// `backward` computes the gradient of one row from dy and y.
template <class F>
Tensor record_rows(Op& op, const Tensor& x, Integer axis, const F& forward,
                   void (*backward)(const real* dy, const real* y, real* dx, Index n)) {
  check(x.dim() >= 1, "x ", x.shape(), " needs at least one axis");
  const Array y = map_rows(x.array().transpose(axis, -1), forward);
  return op.record(y.transpose(axis, -1), save(y, axis, backward),
                   [](const Array& dy, Grads& dx, const Array& y, Integer axis, auto* backward) {
                     const Array d = map_rows(dy.transpose(axis, -1), [&](Index row, const real* g, real* to, Index n) {
                       backward(g, y.data() + row * n, to, n);
                     });
                     dx.add(0, d.transpose(axis, -1));
                   });
}

}  // namespace detail

/// exp(x) / sum(exp(x)) along an axis. The largest element is subtracted first, so nothing overflows. A row of
/// -infinity gives NaN, as in PyTorch. masked_softmax() gives zeros for a row that is masked as a whole. Errors: an
/// axis out of range.
inline Tensor softmax(const Tensor& x, Integer axis = -1) {
  Op op("softmax", x);
  const kernels::Table& t = kernels::table();
  const auto row = [&t](Index, const real* from, real* to, Index n) { t.softmax(from, nullptr, to, nullptr, n); };
  return detail::record_rows(op, x, axis, row, t.softmax_backward);
}

/// Softmax over the elements of the last axis that the mask keeps. The other elements of the result are 0 for any x,
/// even NaN. Their gradients are 0 for any dy. A row in which the mask keeps nothing gives zeros. The mask (true =
/// keep) broadcasts to the shape of x. Errors: a mask that does not broadcast.
inline Tensor masked_softmax(const Tensor& x, const Mask& keep) {
  Op op("masked_softmax", x);
  check(x.dim() >= 1, "x ", x.shape(), " needs at least one axis");
  const detail::MaskRows mask(keep, x.shape());
  const Array y = detail::map_rows(x.array(), [&](Index number, const real* from, real* to, Index n) {
    kernels::table().softmax(from, mask.row(number), to, nullptr, n);
  });
  return op.record(y, save(y, mask.mask), [](const Array& dy, Grads& dx, const Array& y, const Mask& mask) {
    dx.add(0, detail::map_rows(dy, [&](Index number, const real* g, real* to, Index n) {
             const std::uint8_t* const kept = mask.data() + mask.layout().offset_of_part(number, 1);
             for (Index j = 0; j < n; ++j) to[j] = kept[j] || std::isfinite(g[j]) ? g[j] : real(0);
             kernels::table().softmax_backward(to, y.data() + number * n, to, n);
             for (Index j = 0; j < n; ++j)
               if (!kept[j] && to[j] != 0) to[j] = 0;  // removes a NaN that spread from an element that the mask keeps
           }));
  });
}

/// log(softmax(x)) along an axis, computed as x - max - log(sum(exp(x - max))). It stays accurate where softmax
/// rounds to 0.
inline Tensor log_softmax(const Tensor& x, Integer axis = -1) {
  Op op("log_softmax", x);
  const kernels::Table& t = kernels::table();
  const auto row = [&t](Index, const real* from, real* to, Index n) { t.log_softmax(from, to, n); };
  return detail::record_rows(op, x, axis, row, t.log_softmax_backward);
}

}  // namespace mote
