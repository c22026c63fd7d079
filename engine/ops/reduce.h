// Reductions. Over any axes: sum, mean, var, stddev, norm, logsumexp, max, min. Along one axis: prod, cumsum, argmax,
// argmin, and max and min with positions.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>

#include "engine/array/combine.h"
#include "engine/array/int_array.h"
#include "engine/autograd/op.h"
#include "engine/ops/along.h"

namespace mote {

namespace detail {
/// y with the reduced axes put back as extents of 1, so that y broadcasts against x.
inline Array with_axes(const Array& y, const Shape& x, const Axes& axes) {
  return y.reshape(reduced_shape(x, axes, true));
}

inline Index reduced_count(const Shape& shape, const Axes& axes) {
  Index n = 1;
  for (const Index a : axes.of(shape.rank())) n *= shape[a];
  return n;
}

/// sum(d^2) / count over `axes`. Where the squares or their sum overflow, the result is computed from d scaled down
/// by a power of two.
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

/// The sum over `axes`, or over all axes if none are given. keepdim keeps the summed axes with extent 1. The sum of no
/// elements is 0. Errors: an axis out of range or listed twice.
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

namespace detail {
/// The parts of a variance: `values` is x - mean(x) over `axes`, and `scale` is count - correction, but not below 0.
struct Centred {
  Array values;
  real scale;
  Centred(const Array& x, const Axes& axes, Real correction) {
    const real count = static_cast<real>(reduced_count(x.shape(), axes));
    scale = std::max(count - static_cast<real>(correction), real(0));
    values = x - sum(x, axes, true) / count;
  }
};

/// sqrt(sum(x^2)) over `axes`. Where the sum of squares overflows, the result is computed from x scaled down by a
/// power of two.
inline Array root_of_squares(const Array& x, const Axes& axes, bool keepdim) {
  const auto finite = [](real v) { return std::isfinite(v); };
  const Array plain = map(kernels::table().sqrt, sum(x * x, axes, keepdim));
  if (std::all_of(plain.data(), plain.data() + plain.numel(), finite)) return plain;

  constexpr real small = sizeof(real) == 4 ? real(0x1p-64) : real(0x1p-512);
  const Array part = x * small;
  const Array scaled = map(kernels::table().sqrt, sum(part * part, axes, keepdim)) / small;
  return combine<Array>(plain, scaled, [finite](real p, real s) { return finite(p) ? p : s; });
}

/// dy / y, but 0 where y is 0, because the derivative of the square root at 0 counts as 0.
inline Array over_root(const Array& dy, const Array& y) {
  return combine<Array>(dy, y, [](real d, real root) { return root == 0 ? real(0) : d / root; });
}
}  // namespace detail

/// The variance over `axes`: sum((x - mean)^2) / (count - correction), in two passes. correction = 1, the default as
/// in PyTorch, gives the unbiased estimate. correction = 0 gives the biased estimate that layer norm uses. One
/// element with correction = 1 gives NaN.
inline Tensor var(const Tensor& x, const Axes& axes = {}, Real correction = 1, Flag keepdim = false) {
  Op op("var", x);
  const detail::Centred c(x.array(), axes, correction);
  return op.record(detail::mean_square(c.values, axes, keepdim, c.scale), save(c.values, axes, c.scale),
                   [](const Array& dy, Grads& dx, const Array& centred, const Axes& axes, real scale) {
                     // the mean's gradient cancels, since the centred values sum to 0
                     dx.add(0, centred * (detail::with_axes(dy, centred.shape(), axes) * (real(2) / scale)));
                   });
}

/// The standard deviation over `axes`: y = sqrt(var). PyTorch calls it std, a name that is taken in C++. The
/// derivative is (x - mean) / (y (count - correction)), and 0 where y is 0, as in PyTorch.
inline Tensor stddev(const Tensor& x, const Axes& axes = {}, Real correction = 1, Flag keepdim = false) {
  Op op("stddev", x);
  const detail::Centred c(x.array(), axes, correction);
  const Array y = map(kernels::table().sqrt, detail::mean_square(c.values, axes, keepdim, c.scale));
  return op.record(y, save(c.values, y, axes, c.scale),
                   [](const Array& dy, Grads& dx, const Array& centred, const Array& y, const Axes& axes, real scale) {
                     const Array slope = detail::over_root(dy, y) / scale;
                     dx.add(0, centred * detail::with_axes(slope, centred.shape(), axes));
                   });
}

/// The Euclidean norm over `axes`: y = sqrt(sum(x^2)). The derivative is x / y, and 0 where y is 0, as in PyTorch.
/// Write an axis in braces, as in norm(x, {1}), because PyTorch reads a plain second argument as the kind of norm.
/// This norm is always the Euclidean one.
inline Tensor norm(const Tensor& x, const Axes& axes = {}, Flag keepdim = false) {
  Op op("norm", x);
  const Array y = detail::root_of_squares(x.array(), axes, keepdim);
  return op.record(y, save(x, y, axes),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& y, const Axes& axes) {
                     dx.add(0, x * detail::with_axes(detail::over_root(dy, y), x.shape(), axes));
                   });
}
template <detail::Whole N>
__attribute__((unavailable(
    "norm(x, {1}) is over axis 1; the norm is always sqrt(sum(x^2)): for another write sum(abs(x)), max(abs(x))")))
Tensor
norm(const Tensor& x, N kind, Flag keepdim = false);

/// log(sum(e^x)) over `axes`. The maximum of x is subtracted first, so that nothing overflows. The derivative is
/// softmax(x), and 0 where all of x is -infinity. Errors: no elements to reduce.
inline Tensor logsumexp(const Tensor& x, const Axes& axes, Flag keepdim = false) {
  Op op("logsumexp", x);
  const kernels::Table& t = kernels::table();
  const Array top = combine<Array>(max(x.array(), axes, true), [](real m) { return std::isinf(m) ? real(0) : m; });
  const Array sums = sum(map(t.exp, x.array() - top), axes, true);
  const Array y = map(t.log, sums) + top;
  return op.record(y.reshape(reduced_shape(x.shape(), axes, keepdim)), save(x, y, axes),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& y, const Axes& axes) {
                     constexpr real low = -std::numeric_limits<real>::infinity();
                     const auto less = [](real x, real y) { return y == low ? low : x - y; };
                     const Array share = map(kernels::table().exp, combine<Array>(x, y, less));
                     dx.add(0, share * detail::with_axes(dy, x.shape(), axes));
                   });
}

namespace detail {
/// Calls f(offset of the first element, distance between elements) for every line of `shape` along an axis.
template <class F>
void for_lines(const Shape& shape, Integer axis, const F& f) {
  const Shape lines = shape.with(axis, 1);
  const Along along(shape, axis, lines);
  for (Index i = 0; i < lines.numel(); ++i) f(along.line(i), along.step);
}

/// Running sums of x along an axis, starting at the end of the axis if `back`. They are added in double, as in
/// PyTorch.
inline Array running_sums(const Array& x, Integer axis, bool back) {
  Array y = copy_of(x);
  real* const out = y.mutate();
  const Index extent = x.shape()[axis];
  for_lines(x.shape(), axis, [&](Index first, Index step) {
    double total = 0;
    for (Index i = 0; i < extent; ++i) {
      real& at = out[first + (back ? extent - 1 - i : i) * step];
      at = static_cast<real>(total += static_cast<double>(at));
    }
  });
  return y;
}
}  // namespace detail

/// y[i] = x[0] + ... + x[i] along an axis: [..., N, ...] -> the same shape. Errors: an axis out of range.
inline Tensor cumsum(const Tensor& x, Integer axis) {
  Op op("cumsum", x);
  return op.record(detail::running_sums(x.array(), axis, false), save(x.shape().axis(axis)),
                   [](const Array& dy, Grads& dx, int axis) { dx.add(0, detail::running_sums(dy, axis, true)); });
}

namespace detail {
/// The gradient of products along an axis. For each element it is dy of the element's line times the product of the
/// other elements of the line.
inline Array products_of_others(const Array& x, int axis, const Array& dy) {
  const Array above = dy.contiguous();
  const real* of_line = above.data();
  const Index extent = x.shape()[axis];
  Array y = Array::empty(x.shape());
  real* const out = y.mutate();
  for_lines(x.shape(), axis, [&](Index first, Index step) {
    const real dy_of_line = *of_line++;
    real before = 1, behind = 1;
    for (Index i = 0; i < extent; ++i) {
      out[first + i * step] = before;
      before *= x.data()[first + i * step];
    }
    for (Index i = extent - 1; i >= 0; --i) {
      out[first + i * step] = out[first + i * step] * behind * dy_of_line;
      behind *= x.data()[first + i * step];
    }
  });
  return y;
}

/// Records the products of `in` along an axis. The result has the shape `shape`. `in` holds the elements of the op's
/// input, and `of` is the shape of this input.
inline Tensor products(Op& op, const Array& in, Integer axis, const Shape& shape, const Shape& of) {
  const Index extent = in.shape()[axis];
  Array y = Array::full(shape, 1);
  real* out = y.mutate();
  for_lines(in.shape(), axis, [&](Index first, Index step) {
    for (Index i = 0; i < extent; ++i) *out *= in.data()[first + i * step];
    ++out;
  });
  return op.record(y, save(in, in.shape().axis(axis), of),
                   [](const Array& dy, Grads& dx, const Array& in, int axis, const Shape& of) {
                     dx.add(0, products_of_others(in, axis, dy).reshape(of));
                   });
}
}  // namespace detail

/// The product along an axis. The derivative with respect to an element is the product of the other elements, also
/// where one of these is 0. The product of no elements is 1. Errors: an axis out of range.
inline Tensor prod(const Tensor& x, Integer axis, Flag keepdim = false) {
  Op op("prod", x);
  const Shape shape = keepdim ? x.shape().with(axis, 1) : x.shape().without(axis);
  return detail::products(op, x.array().contiguous(), axis, shape, x.shape());
}
/// The product of all elements.
inline Tensor prod(const Tensor& x) {
  Op op("prod", x);
  return detail::products(op, x.array().reshape({x.numel()}).contiguous(), 0, {}, x.shape());
}

namespace detail {
/// Records y, the maximum or minimum of x. The elements of x that equal y share its gradient evenly.
inline Tensor shared_extreme(Op& op, const Tensor& x, const Array& y, const Axes& axes) {
  return op.record(y, save(x, y, axes),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& y, const Axes& axes) {
                     const auto same = [](real a, real b) { return a == b || (a != a && b != b) ? real(1) : real(0); };
                     const Array equal = combine<Array>(x, with_axes(y, x.shape(), axes), same);
                     dx.add(0, equal * (with_axes(dy, x.shape(), axes) / sum(equal, axes, true)));
                   });
}
}  // namespace detail

/// The largest element over `axes`, or NaN if any element is NaN. Equal largest elements share the gradient evenly
/// (PyTorch's amax). For one axis without braces see max(x, axis) below. Errors: no elements to reduce.
inline Tensor max(const Tensor& x, const Axes& axes = {}, Flag keepdim = false) {
  Op op("max", x);
  return detail::shared_extreme(op, x, max(x.array(), axes, keepdim), axes);
}
/// The smallest element over `axes`. Everything else is as in max().
inline Tensor min(const Tensor& x, const Axes& axes = {}, Flag keepdim = false) {
  Op op("min", x);
  return detail::shared_extreme(op, x, min(x.array(), axes, keepdim), axes);
}

namespace detail {
/// Whether x comes before y when larger elements come first (ranks_before) or smaller elements come first
/// (ranks_behind). NaN comes before every number.
inline bool ranks_before(real x, real y) { return x > y || (x != x && y == y); }
inline bool ranks_behind(real x, real y) { return x < y || (x != x && y == y); }

/// For every line along `axis`, the position of the element that `before` puts first. The result has extent 1 along
/// `axis`. Of equal elements the first is taken.
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

/// The position of the largest element along `axis`. Of equal elements the first is taken. NaN counts as largest. x
/// [..., N, ...] -> the same shape without the axis. The position has no gradient. Errors: an empty axis.
inline IntArray argmax(const Tensor& x, Integer axis = -1, Flag keepdim = false) {
  const Op op("argmax");
  const IntArray y = detail::arg_extreme(x.array(), axis, detail::ranks_before);
  return keepdim ? y : y.reshape(x.shape().without(axis));
}
/// The position of the smallest element along `axis`. NaN counts as smallest. Everything else is as in argmax().
inline IntArray argmin(const Tensor& x, Integer axis = -1, Flag keepdim = false) {
  const Op op("argmin");
  const IntArray y = detail::arg_extreme(x.array(), axis, detail::ranks_behind);
  return keepdim ? y : y.reshape(x.shape().without(axis));
}

/// The result of max, min, sort and topk along one axis: values, which have a gradient, and their positions.
struct Ranked {
  Tensor values;
  IntArray indices;

  template <class I>
  __attribute__((unavailable("write max(x, 1).values or .indices, or const auto [values, indices] = max(x, 1)"))) void
  operator[](I) const;
};

namespace detail {
/// Records the elements of x that `best` selects along an axis. The gradient goes only to these elements.
inline Ranked ranked(Op& op, const Tensor& x, Integer axis, const IntArray& best, const Shape& shape) {
  const Along along(x.shape(), axis, best.shape());
  const auto rule = [](const Array& dy, Grads& dx, const Shape& from, const IntArray& best, const Along& along) {
    dx.add(0, along.put(Array::zeros(from), best, dy.reshape(best.shape())));
  };
  return {op.record(along.take(x.array(), best).reshape(shape), save(x.shape(), best, along), rule),
          best.reshape(shape)};
}

inline Ranked extreme(OpName name, const Tensor& x, Integer axis, Flag keepdim, bool (*before)(real, real)) {
  Op op(name, x);
  const IntArray best = arg_extreme(x.array(), axis, before);
  return ranked(op, x, axis, best, keepdim ? best.shape() : x.shape().without(axis));
}
template <class T>
concept TensorLike = std::is_same_v<T, Tensor> || std::is_same_v<T, Parameter>;
}  // namespace detail

/// The largest element along one axis and its position, as PyTorch's x.max(dim). Of equal elements the first is
/// taken, and it alone gets the gradient. NaN counts as largest. max(x, {1}), in contrast, reduces any axes and
/// shares the gradient among equal elements. Errors: an empty axis.
template <detail::TensorLike T, detail::Whole Axis>
Ranked max(const T& x, Axis axis, Flag keepdim = false) {
  return detail::extreme("max", x, axis, keepdim, detail::ranks_before);
}
/// The smallest element along one axis and its position. NaN counts as smallest. Everything else is as in max(x,
/// axis).
template <detail::TensorLike T, detail::Whole Axis>
Ranked min(const T& x, Axis axis, Flag keepdim = false) {
  return detail::extreme("min", x, axis, keepdim, detail::ranks_behind);
}

}  // namespace mote
