// sum, mean, var, max, min over any axes; max and min along one with positions; argmax.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <numeric>

#include "engine/array/combine.h"
#include "engine/array/int_array.h"
#include "engine/autograd/op.h"
#include "engine/ops/along.h"

namespace mote {

namespace detail {
/// y with the reduced axes again, as extents of 1, so that it broadcasts against x.
inline Array with_axes(const Array& y, const Shape& x, const Axes& axes) {
  return y.reshape(reduced_shape(x, axes, true));
}

inline Index reduced_count(const Shape& shape, const Axes& axes) {
  Index n = 1;
  for (const Index a : axes.of(shape.rank())) n *= shape[a];
  return n;
}

/// sum(d^2) / count over `axes`. Where squares or their sum leave the range of `real` and the quotient does not, d is
/// scaled by a power of two before.
inline Array mean_square(const Array& d, const Axes& axes, bool keepdim, real count) {
  const auto finite = [](real x) { return std::isfinite(x); };
  const Array plain = sum(d * d, axes, keepdim) / count;
  if (std::all_of(plain.data(), plain.data() + plain.numel(), finite)) return plain;

  constexpr real small = sizeof(real) == 4 ? real(0x1p-32) : real(0x1p-256);
  const Array part = d * small;
  const Array scaled = sum(part * part, axes, keepdim) / count / small / small;
  return combine<Array>(plain, scaled, [finite](real p, real s) { return finite(p) ? p : s; });
}
}  // namespace detail

/// The sum over `axes` (all when none are given). keepdim leaves them with extent 1. The sum of no elements is 0.
/// Errors: an axis out of range or listed twice.
inline Tensor sum(const Tensor& x, const Axes& axes = {}, Flag keepdim = false) {
  Op op("sum", x);
  return op.record(sum(x.array(), axes, keepdim), save(x.shape(), axes),
                   [](const Array& dy, Grads& dx, const Shape& shape, const Axes& axes) {
                     dx.add(0, detail::with_axes(dy, shape, axes).expand(shape));
                   });
}

/// The mean over `axes`: the sum divided by the number of elements summed. The mean of no elements is NaN.
inline Tensor mean(const Tensor& x, const Axes& axes = {}, Flag keepdim = false) {
  Op op("mean", x);
  const real count = static_cast<real>(detail::reduced_count(x.shape(), axes));
  return op.record(sum(x.array(), axes, keepdim) / count, save(x.shape(), axes, count),
                   [](const Array& dy, Grads& dx, const Shape& shape, const Axes& axes, real count) {
                     dx.add(0, detail::with_axes(dy / count, shape, axes).expand(shape));
                   });
}

/// The variance over `axes`: sum((x - mean)^2) / (count - correction), in two passes. correction 1, the default as in
/// PyTorch, is the unbiased estimate; 0 the biased one that layer norm uses. One element with correction 1 gives NaN.
inline Tensor var(const Tensor& x, const Axes& axes = {}, Real correction = 1, Flag keepdim = false) {
  Op op("var", x);
  const real count = static_cast<real>(detail::reduced_count(x.shape(), axes));
  const real scale = std::max(count - static_cast<real>(correction), real(0));
  const Array centred = x.array() - sum(x.array(), axes, true) / count;
  return op.record(detail::mean_square(centred, axes, keepdim, scale), save(centred, axes, scale),
                   [](const Array& dy, Grads& dx, const Array& centred, const Axes& axes, real scale) {
                     // the mean's gradient cancels, since the centred values sum to 0
                     dx.add(0, centred * (detail::with_axes(dy, centred.shape(), axes) * (real(2) / scale)));
                   });
}

namespace detail {
/// Records y, the maximum or minimum of x. Elements that equal it share its gradient evenly.
inline Tensor shared_extreme(Op& op, const Tensor& x, const Array& y, const Axes& axes) {
  return op.record(y, save(x, y, axes),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& y, const Axes& axes) {
                     const auto same = [](real a, real b) { return a == b || (a != a && b != b) ? real(1) : real(0); };
                     const Array equal = combine<Array>(x, with_axes(y, x.shape(), axes), same);
                     dx.add(0, equal * (with_axes(dy, x.shape(), axes) / sum(equal, axes, true)));
                   });
}
}  // namespace detail

/// The largest element over `axes`. NaN wins. Equal largest elements share the gradient evenly (PyTorch's amax).
/// For one axis without braces see max(x, axis) below. Errors: no elements to reduce.
inline Tensor max(const Tensor& x, const Axes& axes = {}, Flag keepdim = false) {
  Op op("max", x);
  return detail::shared_extreme(op, x, max(x.array(), axes, keepdim), axes);
}
/// The smallest element over `axes`; the rest as max.
inline Tensor min(const Tensor& x, const Axes& axes = {}, Flag keepdim = false) {
  Op op("min", x);
  return detail::shared_extreme(op, x, min(x.array(), axes, keepdim), axes);
}

namespace detail {
/// The order of elements: larger first, or smaller first; NaN before every number. Equal ones keep their order.
inline bool ranks_before(real x, real y) { return x > y || (x != x && y == y); }
inline bool ranks_behind(real x, real y) { return x < y || (x != x && y == y); }

/// The position along `axis` of the element that `before` puts first, and the first of equals: extent 1 there.
inline IntArray arg_extreme(const Array& x, Integer axis, bool (*before)(real, real)) {
  const Index extent = x.shape()[axis];
  check(extent > 0, "cannot reduce the empty axis ", axis, " of shape ", x.shape());
  const Array in = x.contiguous();
  IntArray y(x.shape().with(axis, 1));
  Index* const out = y.mutate();
  const Along along(x.shape(), axis, y.shape());
  for (Index i = 0; i < y.numel(); ++i) {
    const real* const line = in.data() + along.line(i);
    for (Index j = 1; j < extent; ++j)
      if (before(line[j * along.step], line[out[i] * along.step])) out[i] = j;
  }
  return y;
}
}  // namespace detail

/// The position of the largest element along `axis` (the first of equals; NaN counts as largest). x [..., N, ...] ->
/// the same without the axis. No gradient. Errors: an empty axis.
inline IntArray argmax(const Tensor& x, Integer axis = -1, Flag keepdim = false) {
  const Op op("argmax");
  const IntArray y = detail::arg_extreme(x.array(), axis, detail::ranks_before);
  return keepdim ? y : y.reshape(x.shape().without(axis));
}

/// The result of max and min along one axis: values, which have a gradient, and their positions.
struct Extreme {
  Tensor values;
  IntArray indices;
};

namespace detail {
inline Extreme extreme(OpName name, const Tensor& x, Integer axis, Flag keepdim, bool (*before)(real, real)) {
  Op op(name, x);
  const IntArray best = arg_extreme(x.array(), axis, before);
  const Shape shape = keepdim ? best.shape() : x.shape().without(axis);
  const Along along(x.shape(), axis, best.shape());
  const auto rule = [](const Array& dy, Grads& dx, const Shape& from, const IntArray& best, const Along& along) {
    dx.add(0, along.put(from, best, dy));
  };
  return {op.record(along.take(x.array(), best).reshape(shape), save(x.shape(), best, along), rule),
          best.reshape(shape)};
}
template <class T>
concept TensorLike = std::is_same_v<T, Tensor> || std::is_same_v<T, Parameter>;
}  // namespace detail

/// The largest element along one axis and its position, as PyTorch's x.max(dim): the first of equals, to which alone
/// the gradient goes; NaN wins. max(x, {1}), in contrast, reduces any axes and shares the gradient. Errors: an empty
/// axis.
template <detail::TensorLike T, detail::Whole Axis>
Extreme max(const T& x, Axis axis, Flag keepdim = false) {
  return detail::extreme("max", x, axis, keepdim, detail::ranks_before);
}
/// The same of the smallest element.
template <detail::TensorLike T, detail::Whole Axis>
Extreme min(const T& x, Axis axis, Flag keepdim = false) {
  return detail::extreme("min", x, axis, keepdim, detail::ranks_behind);
}

/// Fills `first` with the positions of the k largest elements of a row, largest first, equal ones by position; NaN
/// counts as largest. Errors: a k outside [0, n].
inline void rank_first(const real* row, Index n, Index k, std::vector<Index>& first) {
  check_in("rank_first", k >= 0 && k <= n, "k = ", k, " is outside [0, ", n, "]");
  first.resize(static_cast<std::size_t>(n));
  std::iota(first.begin(), first.end(), Index(0));
  std::partial_sort(first.begin(), first.begin() + k, first.end(), [row](Index a, Index b) {
    return detail::ranks_before(row[a], row[b]) || (!detail::ranks_before(row[b], row[a]) && a < b);
  });
  first.resize(static_cast<std::size_t>(k));
}

}  // namespace mote
