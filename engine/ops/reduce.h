// sum, mean, var, max, min over any axes; argmax and topk, which have no gradient.
#pragma once

#include <limits>
#include <numeric>

#include "engine/array/int_array.h"
#include "engine/autograd/op.h"

namespace mote {

namespace detail {
/// y with the reduced axes restored as extents of 1, so that it broadcasts against x.
inline Array kept(const Array& y, const Shape& x, const Axes& axes) { return y.reshape(reduced_shape(x, axes, true)); }

inline Index reduced_count(const Shape& shape, const Axes& axes) {
  Index n = 1;
  for (const int a : axes.of(shape.rank())) n *= shape[a];
  return n;
}
}  // namespace detail

/// The sum over `axes` (all when none are given). keepdim leaves them with extent 1. The sum of no elements is 0.
/// Errors: an axis out of range or listed twice.
inline Tensor sum(const Tensor& x, const Axes& axes = {}, bool keepdim = false) {
  Op op("sum", x);
  op.flops(x.numel(), {0});
  return op.record(sum(x.array(), axes, keepdim), save(x.shape(), axes),
                   [](const Array& dy, Grads& dx, const Shape& shape, const Axes& axes) {
                     dx.add(0, detail::kept(dy, shape, axes).expand(shape));
                   });
}

/// The mean over `axes`: the sum divided by the number of elements summed. The mean of no elements is NaN.
inline Tensor mean(const Tensor& x, const Axes& axes = {}, bool keepdim = false) {
  Op op("mean", x);
  op.flops(x.numel());
  const real count = static_cast<real>(detail::reduced_count(x.shape(), axes));
  return op.record(sum(x.array(), axes, keepdim) / count, save(x.shape(), axes, count),
                   [](const Array& dy, Grads& dx, const Shape& shape, const Axes& axes, real count) {
                     dx.add(0, detail::kept(dy / count, shape, axes).expand(shape));
                   });
}

/// The variance over `axes`: sum((x - mean)^2) / (count - correction), in two passes. correction 1, the default as in
/// PyTorch, is the unbiased estimate; 0 the biased one that layer norm uses. One element with correction 1 gives NaN.
inline Tensor var(const Tensor& x, const Axes& axes = {}, real correction = 1, bool keepdim = false) {
  Op op("var", x);
  op.flops(4 * x.numel(), {2 * x.numel()});
  const real count = static_cast<real>(detail::reduced_count(x.shape(), axes));
  const real scale = std::max(count - correction, real(0));
  const Array centred = x.array() - sum(x.array(), axes, true) / count;
  return op.record(sum(centred * centred, axes, keepdim) / scale, save(centred, axes, scale),
                   [](const Array& dy, Grads& dx, const Array& centred, const Axes& axes, real scale) {
                     // the mean's gradient cancels, since the centred values sum to 0
                     dx.add(0, centred * (detail::kept(dy, centred.shape(), axes) * (real(2) / scale)));
                   });
}

namespace detail {
/// Elements that equal the extreme share its gradient evenly.
inline void share_extreme(const Array& x, const Array& y, const Axes& axes, const Array& dy, Grads& dx) {
  Array equal = copy_of(x);
  const Array best = kept(y, x.shape(), axes).expand(x.shape()).contiguous();
  real* const out = equal.mutate();
  for (Index i = 0; i < equal.numel(); ++i)
    out[i] = out[i] == best.data()[i] || (out[i] != out[i] && best.data()[i] != best.data()[i]) ? real(1) : real(0);
  dx.add(0, equal * (kept(dy, x.shape(), axes) / sum(equal, axes, true)));
}
}  // namespace detail

/// The largest element over `axes`. NaN wins. Equal largest elements share the gradient evenly (PyTorch's amax).
/// Errors: no elements to reduce.
inline Tensor max(const Tensor& x, const Axes& axes = {}, bool keepdim = false) {
  Op op("max", x);
  op.flops(x.numel(), {3 * x.numel()});
  Array y = max(x.array(), axes, keepdim);
  return op.record(y, save(x, y, axes),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& y, const Axes& axes) {
                     detail::share_extreme(x, y, axes, dy, dx);
                   });
}

/// The smallest element over `axes`; the rest as max.
inline Tensor min(const Tensor& x, const Axes& axes = {}, bool keepdim = false) {
  Op op("min", x);
  op.flops(x.numel(), {3 * x.numel()});
  Array y = min(x.array(), axes, keepdim);
  return op.record(y, save(x, y, axes),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& y, const Axes& axes) {
                     detail::share_extreme(x, y, axes, dy, dx);
                   });
}

namespace detail {
/// The order of elements: larger first, NaN before every number. Equal ones keep their order.
inline bool ranks_before(real x, real y) { return x > y || (x != x && y == y); }
}  // namespace detail

/// The position of the largest element along `axis` (the first of equals; NaN counts as largest). x [..., N, ...] ->
/// the same without the axis. No gradient. Errors: an empty axis.
inline IntArray argmax(const Tensor& x, int axis = -1, bool keepdim = false) {
  const Op op("argmax");
  const Index n = x.shape()[axis];
  check(n > 0, "cannot reduce the empty axis ", axis, " of shape ", x.shape());
  const Array in = x.array().contiguous();
  IntArray y(x.shape().with(axis, 1));
  Index* const out = y.mutate();
  Index inner = 1;  // elements between two neighbours along the axis
  for (int i = x.shape().axis(axis) + 1; i < x.dim(); ++i) inner *= x.shape()[i];
  for (Index i = 0; i < y.numel(); ++i) {
    const real* const first = in.data() + i / inner * inner * n + i % inner;
    Index best = 0;
    for (Index j = 1; j < n; ++j)
      if (detail::ranks_before(first[j * inner], first[best * inner])) best = j;
    out[i] = best;
  }
  return keepdim ? y : y.reshape(x.shape().without(axis));
}

/// The result of topk: the values and their positions, both [..., k].
struct TopK {
  Array values;
  IntArray indices;
};

/// The k largest elements along the last axis, largest first, equal ones by position. x [..., N] -> [..., k]. No
/// gradient. Errors: k outside [0, N].
inline TopK topk(const Tensor& x, Index k) {
  const Op op("topk");
  check(x.dim() >= 1, "needs at least one axis");
  const Index n = x.shape()[-1];
  check(k >= 0 && k <= n, "k = ", k, " is outside [0, ", n, "] for shape ", x.shape());
  const Array rows = x.array().contiguous();
  TopK top{Array::empty(x.shape().with(-1, k)), IntArray(x.shape().with(-1, k))};
  real* const values = top.values.mutate();
  Index* const indices = top.indices.mutate();
  std::vector<Index> order(static_cast<std::size_t>(n));
  for (Index i = 0; n && i < rows.numel() / n; ++i) {
    const real* const row = rows.data() + i * n;
    std::iota(order.begin(), order.end(), Index(0));
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [row](Index a, Index b) {
      return detail::ranks_before(row[a], row[b]) || (!detail::ranks_before(row[b], row[a]) && a < b);
    });
    for (Index j = 0; j < k; ++j) {
      indices[i * k + j] = order[static_cast<std::size_t>(j)];
      values[i * k + j] = row[indices[i * k + j]];
    }
  }
  return top;
}

}  // namespace mote
