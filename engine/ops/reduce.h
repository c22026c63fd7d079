// sum, mean, var, max, min over any axes; max and min along one with positions; argmax, argmin and topk.
#pragma once

#include <concepts>
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
/// For one axis without braces see max(x, axis) below. Errors: no elements to reduce.
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
/// The order of elements: larger first, or smaller first; NaN before every number. Equal ones keep their order.
inline bool ranks_before(real x, real y) { return x > y || (x != x && y == y); }
inline bool ranks_behind(real x, real y) { return x < y || (x != x && y == y); }

/// Where element i of a reduction along `axis` comes from: element j of its line is at first(i) + j * inner.
struct Lines {
  Index extent, inner = 1;
  Lines(const Shape& shape, int axis) : extent(shape[axis]) {
    for (int i = shape.axis(axis) + 1; i < shape.rank(); ++i) inner *= shape[i];
  }
  Index first(Index i) const { return i / inner * inner * extent + i % inner; }
};

/// The position along `axis` of the element that `before` puts first, and the first of equals: extent 1 there.
inline IntArray best_along(const Array& x, int axis, bool (*before)(real, real)) {
  const Lines lines(x.shape(), axis);
  check(lines.extent > 0, "cannot reduce the empty axis ", axis, " of shape ", x.shape());
  const Array in = x.contiguous();
  IntArray y(x.shape().with(axis, 1));
  Index* const out = y.mutate();
  for (Index i = 0; i < y.numel(); ++i) {
    const real* const line = in.data() + lines.first(i);
    for (Index j = 1; j < lines.extent; ++j)
      if (before(line[j * lines.inner], line[out[i] * lines.inner])) out[i] = j;
  }
  return y;
}
}  // namespace detail

/// The position of the largest element along `axis` (the first of equals; NaN counts as largest). x [..., N, ...] ->
/// the same without the axis. No gradient. Errors: an empty axis.
inline IntArray argmax(const Tensor& x, int axis = -1, bool keepdim = false) {
  const Op op("argmax");
  const IntArray y = detail::best_along(x.array(), axis, detail::ranks_before);
  return keepdim ? y : y.reshape(x.shape().without(axis));
}
/// The same of the smallest element; NaN counts as smallest.
inline IntArray argmin(const Tensor& x, int axis = -1, bool keepdim = false) {
  const Op op("argmin");
  const IntArray y = detail::best_along(x.array(), axis, detail::ranks_behind);
  return keepdim ? y : y.reshape(x.shape().without(axis));
}

/// The result of max and min along one axis: values, which have a gradient, and their positions.
struct Extreme {
  Tensor values;
  IntArray indices;
};

namespace detail {
inline Extreme extreme(OpName name, const Tensor& x, int axis, bool keepdim, bool (*before)(real, real)) {
  Op op(name, x);
  op.flops(x.numel(), {0});
  const IntArray best = best_along(x.array(), axis, before);
  const Shape shape = keepdim ? best.shape() : x.shape().without(axis);
  const Lines lines(x.shape(), axis);
  const Array in = x.array().contiguous();
  Array y = Array::empty(shape);
  real* const out = y.mutate();
  for (Index i = 0; i < y.numel(); ++i) out[i] = in.data()[lines.first(i) + best.data()[i] * lines.inner];
  const auto rule = [](const Array& dy, Grads& dx, const Shape& from, const IntArray& best, int axis) {
    const Lines to(from, axis);
    const Array g = dy.contiguous();
    Array d = Array::zeros(from);
    real* const at = d.mutate();
    for (Index i = 0; i < g.numel(); ++i) at[to.first(i) + best.data()[i] * to.inner] = g.data()[i];
    dx.add(0, d);
  };
  return {op.record(y, save(x.shape(), best, axis), rule), best.reshape(shape)};
}
template <class T>
concept TensorLike = std::is_same_v<T, Tensor> || std::is_same_v<T, Parameter>;
}  // namespace detail

/// The largest element along one axis and its position, as PyTorch's x.max(dim): the first of equals, to which alone
/// the gradient goes; NaN wins. max(x, {1}), in contrast, reduces any axes and shares the gradient. Errors: an empty
/// axis.
template <detail::TensorLike T, std::integral Axis>
Extreme max(const T& x, Axis axis, bool keepdim = false) {
  return detail::extreme("max", x, static_cast<int>(axis), keepdim, detail::ranks_before);
}
/// The same of the smallest element.
template <detail::TensorLike T, std::integral Axis>
Extreme min(const T& x, Axis axis, bool keepdim = false) {
  return detail::extreme("min", x, static_cast<int>(axis), keepdim, detail::ranks_behind);
}

namespace detail {
/// Fills `first` with the positions of the k elements of a row that rank first, in their order; equal ones by position.
/// Linear in n: of those seen so far, at most 2 k are kept, and one that ranks behind the k-th cannot be among them.
inline void rank_first(const real* row, Index n, Index k, std::vector<Index>& first) {
  const auto before = [row](Index a, Index b) {
    return ranks_before(row[a], row[b]) || (!ranks_before(row[b], row[a]) && a < b);
  };
  first.clear();
  if (k == 0) return;
  const std::size_t wanted = static_cast<std::size_t>(k);
  const auto select = [&] {
    const auto end = first.begin() + static_cast<std::ptrdiff_t>(wanted);
    if (end != first.end()) std::nth_element(first.begin(), end - 1, first.end(), before);
    first.resize(wanted);
  };
  Index kth = -1;  // the k-th of those seen
  for (Index i = 0; i < n; ++i) {
    if (kth >= 0 && !ranks_before(row[i], row[kth])) continue;
    first.push_back(i);
    if (first.size() == 2 * wanted) select(), kth = first.back();
  }
  select();
  std::sort(first.begin(), first.end(), before);
}
}  // namespace detail

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
  std::vector<Index> first;
  for (Index i = 0; n && i < rows.numel() / n; ++i) {
    const real* const row = rows.data() + i * n;
    detail::rank_first(row, n, k, first);
    for (Index j = 0; j < k; ++j) {
      indices[i * k + j] = first[static_cast<std::size_t>(j)];
      values[i * k + j] = row[indices[i * k + j]];
    }
  }
  return top;
}

}  // namespace mote
