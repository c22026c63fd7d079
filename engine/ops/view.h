// Ops that rearrange elements without changing them: reshape, transpose, slice, concat, expand, flip and others.
#pragma once

#include "engine/array/int_array.h"
#include "engine/array/join.h"
#include "engine/autograd/op.h"

namespace mote {

namespace detail {
/// Records y, which has the elements of x in the same order under another shape.
inline Tensor reshaped(Op& op, const Tensor& x, Array y) {
  return op.record(std::move(y), save(x.shape()),
                   [](const Array& dy, Grads& dx, const Shape& shape) { dx.add(0, dy.reshape(shape)); });
}
}  // namespace detail

/// x with another shape and the same elements in row-major order. One extent may be -1, and is then inferred. Errors:
/// a number of elements that does not match, more than one -1.
inline Tensor reshape(const Tensor& x, std::initializer_list<Integer> extents) {
  Op op("reshape", x);
  return detail::reshaped(op, x, x.array().reshape(extents));
}
/// reshape() to a Shape, such as that of another tensor.
inline Tensor reshape(const Tensor& x, const Shape& shape) {
  Op op("reshape", x);
  return detail::reshaped(op, x, x.array().reshape(shape));
}

namespace detail {
inline Shape flattened(const Shape& x, Integer start, Integer end) {
  Shape shape = x.rank() == 0 ? Shape{1} : x;
  const int first = shape.axis(start), last = shape.axis(end);
  check(first <= last, "start axis ", start, " must not stand behind end axis ", end, " of ", x);
  Index together = 1;
  for (int i = first; i <= last; ++i) {
    together *= shape[first];
    shape = shape.without(first);
  }
  return shape.insert(first, together);
}
}  // namespace detail

/// Merges the axes from start to end, both included, into one: [A, B, C] -> [A * B * C]. Errors: an axis out of
/// range, start behind end.
inline Tensor flatten(const Tensor& x, Integer start = 0, Integer end = -1) {
  Op op("flatten", x);
  return detail::reshaped(op, x, x.array().reshape(detail::flattened(x.shape(), start, end)));
}

template <std::integral I, class... More>
__attribute__((unavailable("a shape stands in braces: write reshape(x, {3, 2})"))) Tensor reshape(const Tensor&, I,
                                                                                                  More...);
template <std::integral I, class... More>
__attribute__((unavailable("a shape stands in braces: write view(x, {3, 2})"))) Tensor view(const Tensor&, I, More...);
template <std::integral I, class... More>
__attribute__((unavailable("axes stand in braces: write permute(x, {1, 0})"))) Tensor permute(const Tensor&, I,
                                                                                              More...);

/// The same as reshape(), except that it never copies. Errors: strides that do not allow a view, as after transpose()
/// or slice(). For such strides use reshape().
inline Tensor view(const Tensor& x, std::initializer_list<Integer> extents) {
  Op op("view", x);
  return detail::reshaped(op, x, x.array().view(extents));
}
inline Tensor view(const Tensor& x, const Shape& shape) {
  Op op("view", x);
  return detail::reshaped(op, x, x.array().view(std::span<const Index>(shape)));
}

/// x stored in row-major order. mote's ops accept any layout, so this is only for code that follows a PyTorch
/// tutorial.
inline Tensor contiguous(const Tensor& x) {
  Op op("contiguous", x);
  return op.record(x.array().contiguous(), [](const Array& dy, Grads& dx) { dx.add(0, dy); });
}

/// x with two axes swapped: [..., A, ..., B, ...] -> [..., B, ..., A, ...]. Errors: an axis out of range.
inline Tensor transpose(const Tensor& x, Integer axis0, Integer axis1) {
  Op op("transpose", x);
  return op.record(
      x.array().transpose(axis0, axis1), save(axis0, axis1),
      [](const Array& dy, Grads& dx, Integer axis0, Integer axis1) { dx.add(0, dy.transpose(axis0, axis1)); });
}

/// Axis i of the result is axis axes[i] of x. Errors: axes that do not list every axis exactly once.
inline Tensor permute(const Tensor& x, std::initializer_list<Integer> axes) {
  Op op("permute", x);
  Array y = x.array().permute(axes);
  std::vector<Index> inverse(axes.size());
  for (Index i = 0; const Integer axis : axes) inverse[static_cast<std::size_t>(x.shape().axis(axis))] = i++;
  return op.record(std::move(y), save(inverse), [](const Array& dy, Grads& dx, const std::vector<Index>& inverse) {
    dx.add(0, dy.permute(inverse));
  });
}

/// The elements of x at the positions start, start + step, ... below end along an axis. Negative start and end count
/// from the end of the axis. Both are clamped to the extent, as in Python. Errors: an axis out of range, step < 1.
inline Tensor slice(const Tensor& x, Integer axis, Integer start, Integer end, Integer step = 1) {
  Op op("slice", x);
  return op.record(x.array().slice(axis, start, end, step), save(axis, start, end, step),
                   [](const Array& dy, Grads& dx, Integer axis, Integer start, Integer end, Integer step) {
                     dx.add_slice(0, axis, start, end, step, dy);
                   });
}

/// Selects one position along an axis and removes the axis. Errors: a position outside [-extent, extent).
inline Tensor select(const Tensor& x, Integer axis, Integer position) {
  Op op("select", x);
  Array y = x.array().select(axis, position);
  const Index start = position < 0 ? position + x.shape()[axis] : Index(position);
  return op.record(std::move(y), save(x.shape().axis(axis), start), [](const Array& dy, Grads& dx, int a, Index start) {
    dx.add_slice(0, a, start, start + 1, 1, dy.unsqueeze(a));
  });
}

namespace detail {
/// Splits x into parts of the given sizes along an axis.
template <class A>
std::vector<A> parts_of(const A& x, const std::vector<Index>& sizes, Integer axis) {
  const Op op("split");
  Index total = 0;
  for (const Index n : sizes) {
    check(n >= 0, "size ", n, " must be at least 0");
    total = std::min(total + std::min(n, Shape::max_numel), Shape::max_numel);  // large sizes must not overflow
  }
  check(total == x.shape()[axis], "sizes add up to ", total, ", but axis ", axis, " of ", x.shape(), " has ",
        x.shape()[axis]);
  std::vector<A> parts;
  Index start = 0;
  for (const Index n : sizes) {
    parts.push_back(slice(x, axis, start, start + n));
    start += n;
  }
  return parts;
}
template <class A>
std::vector<A> equal_parts(const A& x, Index size, Integer axis) {
  const Op op("split");
  check(size >= 1, "size ", size, " must be at least 1");
  std::vector<Index> sizes;
  for (Index left = x.shape()[axis]; left > 0; left -= size) sizes.push_back(std::min(size, left));
  if (sizes.empty()) sizes.push_back(0);  // as in PyTorch, an empty axis has one part
  return parts_of(x, sizes, axis);
}
template <class A>
std::vector<A> chunks(const A& x, Integer count, Integer axis) {
  const Op op("chunk");
  check(count >= 1, "count ", count, " must be at least 1");
  if (x.shape()[axis] == 0) return parts_of(x, std::vector<Index>(static_cast<std::size_t>(count)), axis);
  return equal_parts(x, std::max<Index>(1, x.shape()[axis] / count + (x.shape()[axis] % count != 0)), axis);
}
}  // namespace detail

/// Splits x into parts of the given sizes along an axis. Errors: sizes that do not add up to the extent.
inline std::vector<Tensor> split(const Tensor& x, const std::vector<Index>& sizes, Integer axis = 0) {
  return detail::parts_of(x, sizes, axis);
}
inline std::vector<IntArray> split(const IntArray& x, const std::vector<Index>& sizes, Integer axis = 0) {
  return detail::parts_of(x, sizes, axis);
}

/// Splits x into parts of `size` along an axis. The last part may be smaller. Write the size without braces, because
/// {2} is a list of sizes. Errors: size < 1.
template <detail::Whole Number>
std::vector<Tensor> split(const Tensor& x, Number size, Integer axis = 0) {
  return detail::equal_parts(x, Integer(size), axis);
}
template <detail::Whole Number>
std::vector<IntArray> split(const IntArray& x, Number size, Integer axis = 0) {
  return detail::equal_parts(x, Integer(size), axis);
}

template <std::floating_point Number>
__attribute__((unavailable("an integer stands here, not a fraction: write 1, not 1.0"))) std::vector<Tensor> split(
    const Tensor& x, Number fraction, Integer axis = 0);

/// Splits x along an axis into at most `count` parts of equal size. The last part may be smaller. Errors: count < 1.
inline std::vector<Tensor> chunk(const Tensor& x, Integer count, Integer axis = 0) {
  return detail::chunks(x, count, axis);
}
inline std::vector<IntArray> chunk(const IntArray& x, Integer count, Integer axis = 0) {
  return detail::chunks(x, count, axis);
}

/// Every position of an axis as a separate tensor, without that axis.
inline std::vector<Tensor> unbind(const Tensor& x, Integer axis = 0) {
  const Op op("unbind");
  std::vector<Tensor> parts;
  for (Index i = 0; i < x.shape()[axis]; ++i) parts.push_back(select(x, axis, i));
  return parts;
}

namespace detail {
inline std::vector<Array> arrays_of(const std::vector<Tensor>& tensors) {
  std::vector<Array> arrays;
  for (const Tensor& t : tensors) arrays.push_back(t.array());
  return arrays;
}
}  // namespace detail

/// Concatenates tensors along an axis. All other extents must be equal; empty parts are allowed.
/// Errors: no tensors, shapes that differ along another axis.
inline Tensor concat(const std::vector<Tensor>& parts, Integer axis = 0) {
  Op op("concat", parts);
  const Array y = joined(detail::arrays_of(parts), axis);
  std::vector<Index> sizes;
  for (const Tensor& part : parts) sizes.push_back(part.size(axis));
  return op.record(y, save(sizes, axis), [](const Array& dy, Grads& dx, const std::vector<Index>& sizes, Integer axis) {
    Index from = 0;
    for (std::size_t i = 0; i < sizes.size(); from += sizes[i++])
      if (dx.wants(i)) dx.add(i, dy.slice(axis, from, from + sizes[i]));
  });
}
/// concat() of IntArrays.
inline IntArray concat(const std::vector<IntArray>& parts, Integer axis = 0) {
  const Op op("concat");
  return joined(parts, axis);
}

/// concat under its other PyTorch name.
inline Tensor cat(const std::vector<Tensor>& parts, Integer axis = 0) { return concat(parts, axis); }
inline IntArray cat(const std::vector<IntArray>& parts, Integer axis = 0) { return concat(parts, axis); }

/// Inserts an axis of extent 1 before `axis`, which is in [-rank - 1, rank].
inline Tensor unsqueeze(const Tensor& x, Integer axis) {
  Op op("unsqueeze", x);
  return detail::reshaped(op, x, x.array().unsqueeze(axis));
}

/// Removes the axis if its extent is 1; otherwise does nothing, as in PyTorch.
inline Tensor squeeze(const Tensor& x, Integer axis) {
  Op op("squeeze", x);
  return detail::reshaped(op, x, x.array().squeeze(axis));
}

namespace detail {
inline Shape squeezed(Shape shape) {
  for (int axis = shape.rank() - 1; axis >= 0; --axis)
    if (shape[axis] == 1) shape = shape.without(axis);
  return shape;
}
}  // namespace detail

/// Removes all axes of extent 1.
inline Tensor squeeze(const Tensor& x) {
  Op op("squeeze", x);
  return detail::reshaped(op, x, x.array().reshape(detail::squeezed(x.shape())));
}

/// Stacks tensors of one shape along a new axis: n tensors [A, B] with axis 0 -> [n, A, B]. Errors: no tensors,
/// different shapes.
inline Tensor stack(const std::vector<Tensor>& parts, Integer axis = 0) {
  Op op("stack", parts);
  const Array y = stacked(detail::arrays_of(parts), axis);
  return op.record(y, save(parts.size(), axis), [](const Array& dy, Grads& dx, std::size_t count, Integer axis) {
    for (std::size_t i = 0; i < count; ++i)
      if (dx.wants(i)) dx.add(i, dy.select(axis, static_cast<Index>(i)));
  });
}
/// stack() of IntArrays.
inline IntArray stack(const std::vector<IntArray>& parts, Integer axis = 0) {
  const Op op("stack");
  return stacked(parts, axis);
}

/// Expands x to `shape` without a copy. Axes of extent 1 are repeated, and new axes may be added in front. The
/// gradient is summed over the repeated and the new axes. Errors: an extent of x that is not 1 and differs from that
/// of `shape`.
inline Tensor expand(const Tensor& x, const Shape& shape) {
  Op op("expand", x);
  return op.record(x.array().expand(shape), [](const Array& dy, Grads& dx) { dx.add(0, dy); });
}

namespace detail {
template <class A>
A repeated(A x, std::initializer_list<Integer> counts) {
  const std::span<const Index> times = plain(counts);
  const int rank = static_cast<int>(times.size());
  check(rank >= x.rank(), "counts given: ", rank, ", but x ", x.shape(), " needs ", x.rank(), ", one for each axis");
  while (x.rank() < rank) x = x.unsqueeze(0);
  for (int axis = 0; axis < rank; ++axis) {
    const Index n = times[static_cast<std::size_t>(axis)];
    check(n >= 0, "count ", n, " must be at least 0");
    if (n == 1) continue;
    const Shape stretched = x.shape().insert(axis, n), joined = x.shape().with(axis, n * x.shape()[axis]);
    x = x.unsqueeze(axis).expand(stretched).reshape(joined);
  }
  return x;
}
}  // namespace detail

/// Repeats the whole of x, with one count for each axis: x [A, B] with counts {2, 3} -> [2A, 3B]. If there are more
/// counts than axes, x gets new leading axes. Errors: fewer counts than axes, a count below 0.
inline Tensor repeat(const Tensor& x, std::initializer_list<Integer> counts) {
  Op op("repeat", x);
  const Array y = detail::repeated(x.array(), counts);
  Shape from = x.shape();
  while (from.rank() < y.rank()) from = from.insert(0, 1);
  return op.record(y, save(from, x.shape()), [](const Array& dy, Grads& dx, const Shape& from, const Shape& shape) {
    Array d = dy;
    for (int axis = 0; axis < from.rank(); ++axis) {
      const Index extent = from[axis], n = extent == 0 ? 0 : d.shape()[axis] / extent;
      if (n != 1) d = sum(d.reshape(d.shape().with(axis, extent).insert(axis, n)), axis);
    }
    dx.add(0, d.reshape(shape));
  });
}

namespace detail {
/// x with position i of an axis moved to position to(i).
template <class A, class To>
A moved_along(const A& x, int axis, const To& to) {
  const A in = x.contiguous();
  A y = A::empty(x.shape());
  const Index n = x.shape()[axis];
  Index inner = 1;
  for (int i = axis + 1; i < x.rank(); ++i) inner *= x.shape()[i];
  auto* const out = y.mutate();
  for (Index run = 0; run * inner < x.numel(); ++run)
    std::copy_n(in.data() + run * inner, inner, out + (run / n * n + to(run % n)) * inner);
  return y;
}
template <class A>
A flipped(A x, const Axes& axes) {
  check(!axes.empty(), "say which axes: flip(x, {0})");
  for (const Index axis : axes.of(x.rank())) {
    const Index last = x.shape()[axis] - 1;
    x = moved_along(x, static_cast<int>(axis), [last](Index i) { return last - i; });
  }
  return x;
}
/// A shift of n positions in a circle, as one of 0 to n - 1.
inline Index counted_round(Index shift, Index n) { return n == 0 ? 0 : (shift % n + n) % n; }
/// x with position i of an axis moved to i + by, where `by` is at least 0.
template <class A>
A rolled(const A& x, int axis, Index by) {
  const Index n = x.shape()[axis];
  return moved_along(x, axis, [n, by](Index i) { return (i + by) % n; });
}
}  // namespace detail

/// x with its elements in reverse order along each of `axes`. Errors: an axis out of range or listed twice, no axis.
inline Tensor flip(const Tensor& x, const Axes& axes) {
  Op op("flip", x);
  return op.record(detail::flipped(x.array(), axes), save(axes),
                   [](const Array& dy, Grads& dx, const Axes& axes) { dx.add(0, detail::flipped(dy, axes)); });
}

/// x with position i of an axis moved to i + shift. Elements that leave at the end come back at the start. Errors: an
/// axis out of range.
inline Tensor roll(const Tensor& x, Integer shift, Integer axis) {
  Op op("roll", x);
  const int a = x.shape().axis(axis);
  const Index n = x.shape()[a], by = detail::counted_round(shift, n);
  return op.record(detail::rolled(x.array(), a, by), save(a, n - by),
                   [](const Array& dy, Grads& dx, int a, Index back) { dx.add(0, detail::rolled(dy, a, back)); });
}

namespace detail {
/// A matrix of this shape with d on its diagonal. diagonal_of() is the reverse.
inline Array diagonal_matrix(const Array& d, const Shape& shape) {
  Array y = Array::zeros(shape);
  real* const out = y.mutate();
  const Array in = d.contiguous();
  for (Index i = 0; i < in.numel(); ++i) out[i * (shape[1] + 1)] = in.data()[i];
  return y;
}
inline Array diagonal_of(const Array& m) {
  const Array in = m.contiguous();
  const Index n = std::min(m.shape()[0], m.shape()[1]);
  Array y = Array::empty({n});
  real* const out = y.mutate();
  for (Index i = 0; i < n; ++i) out[i] = in.data()[i * (m.shape()[1] + 1)];
  return y;
}
}  // namespace detail

/// The matrix [N, N] with a list x [N] on its diagonal, or the diagonal of a matrix x. Errors: a rank other than 1
/// and 2.
inline Tensor diag(const Tensor& x) {
  Op op("diag", x);
  check(x.dim() == 1 || x.dim() == 2, "x ", x.shape(), " must be a list or a matrix");
  if (x.dim() == 1)
    return op.record(detail::diagonal_matrix(x.array(), {x.numel(), x.numel()}),
                     [](const Array& dy, Grads& dx) { dx.add(0, detail::diagonal_of(dy)); });
  return op.record(detail::diagonal_of(x.array()), save(x.shape()), [](const Array& dy, Grads& dx, const Shape& shape) {
    dx.add(0, detail::diagonal_matrix(dy, shape));
  });
}

/// The sum of the diagonal of a matrix. Errors: a rank other than 2.
inline Tensor trace(const Tensor& x) {
  Op op("trace", x);
  check(x.dim() == 2, "x ", x.shape(), " must be a matrix");
  return op.record(sum(detail::diagonal_of(x.array())), save(x.shape()),
                   [](const Array& dy, Grads& dx, const Shape& shape) {
                     const Array each = dy.expand({std::min(shape[0], shape[1])});
                     dx.add(0, detail::diagonal_matrix(each, shape));
                   });
}

namespace detail {
/// x with one triangle of its last two axes set to 0. If `lower`, the elements with column - row > diagonal become 0.
/// Otherwise the elements with column - row < diagonal become 0.
inline Array keep_triangle(const Array& x, bool lower, Index diagonal) {
  Array y = copy_of(x);
  const Index rows = x.shape()[-2], columns = x.shape()[-1];
  real* const out = y.mutate();
  for (Index i = 0; i < y.numel(); ++i) {
    const Index distance = i % columns - i / columns % rows;
    if (lower ? distance > diagonal : distance < diagonal) out[i] = 0;
  }
  return y;
}
inline Tensor triangle(Op& op, const Tensor& x, bool lower, Index diagonal) {
  check(x.dim() >= 2, "needs at least two axes, but the shape is ", x.shape());
  return op.record(
      keep_triangle(x.array(), lower, diagonal), save(lower, diagonal),
      [](const Array& dy, Grads& dx, bool lower, Index diagonal) { dx.add(0, keep_triangle(dy, lower, diagonal)); });
}
}  // namespace detail

/// The lower triangle of the last two axes: zero where column - row > diagonal. Errors: rank below 2.
inline Tensor tril(const Tensor& x, Integer diagonal = 0) {
  Op op("tril", x);
  return detail::triangle(op, x, true, diagonal);
}
/// The upper triangle of the last two axes: zero where column - row < diagonal. Errors: rank below 2.
inline Tensor triu(const Tensor& x, Integer diagonal = 0) {
  Op op("triu", x);
  return detail::triangle(op, x, false, diagonal);
}

// The same functions for integers and masks, which have no gradient.

/// An IntArray or a Mask.
template <class A>
concept Unrecorded = std::same_as<A, IntArray> || std::same_as<A, Mask>;
template <Unrecorded A>
A reshape(const A& x, std::initializer_list<Integer> extents) {
  return x.reshape(extents);
}
template <Unrecorded A>
A reshape(const A& x, const Shape& shape) {
  return x.reshape(shape);
}
template <Unrecorded A>
A flatten(const A& x, Integer start = 0, Integer end = -1) {
  const Op op("flatten");
  return x.reshape(detail::flattened(x.shape(), start, end));
}
template <Unrecorded A>
A view(const A& x, std::initializer_list<Integer> extents) {
  return x.view(extents);
}
template <Unrecorded A>
A transpose(const A& x, Integer axis0, Integer axis1) {
  return x.transpose(axis0, axis1);
}
template <Unrecorded A>
A permute(const A& x, std::initializer_list<Integer> axes) {
  return x.permute(axes);
}
template <Unrecorded A>
A slice(const A& x, Integer axis, Integer start, Integer end, Integer step = 1) {
  return x.slice(axis, start, end, step);
}
template <Unrecorded A>
A select(const A& x, Integer axis, Integer position) {
  return x.select(axis, position);
}
template <Unrecorded A>
A unsqueeze(const A& x, Integer axis) {
  return x.unsqueeze(axis);
}
template <Unrecorded A>
A squeeze(const A& x, Integer axis) {
  return x.squeeze(axis);
}
template <Unrecorded A>
A squeeze(const A& x) {
  return x.reshape(detail::squeezed(x.shape()));
}
template <Unrecorded A>
A expand(const A& x, const Shape& shape) {
  return x.expand(shape);
}
template <Unrecorded A>
A repeat(const A& x, std::initializer_list<Integer> counts) {
  const Op op("repeat");
  return detail::repeated(x, counts);
}
template <Unrecorded A>
A flip(const A& x, const Axes& axes) {
  const Op op("flip");
  return detail::flipped(x, axes);
}
template <Unrecorded A>
A roll(const A& x, Integer shift, Integer axis) {
  const Op op("roll");
  const int a = x.shape().axis(axis);
  return detail::rolled(x, a, detail::counted_round(shift, x.shape()[a]));
}

/// Splits the last axis into heads: [B, T, count * width] -> [B, count, T, width]. Head h takes the columns from h *
/// width on. The result is a view, so nothing is copied. Errors: a rank other than 3, a count below 1, a count that
/// does not divide the last extent.
inline Tensor split_heads(const Tensor& x, Integer count) {
  x.array().require("split_heads");
  check_in("split_heads", x.dim() == 3, "x ", x.shape(), " must be [B, T, C]");
  check_in("split_heads", count >= 1, "count ", count, " must be at least 1");
  check_in("split_heads", x.size(2) % count == 0, "the last extent of x ", x.shape(), " must be a multiple of ", count,
           ", the number of heads");
  return transpose(reshape(x, {x.size(0), x.size(1), count, x.size(2) / count}), 1, 2);
}

/// Joins the heads that split_heads() has split: [B, count, T, width] -> [B, T, count * width]. If x is the result of
/// attention(), it is not copied. Errors: a rank other than 4.
inline Tensor join_heads(const Tensor& x) {
  x.array().require("join_heads");
  check_in("join_heads", x.dim() == 4, "x ", x.shape(), " must be [B, H, T, width]");
  return reshape(transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// Repeats each head of keys or values count / Hkv times: x [B, Hkv, T, width] -> [B, count, T, width]. Errors: a
/// rank other than 4, a count that is not a multiple of Hkv.
inline Tensor repeat_heads(const Tensor& x, Index count) {
  x.array().require("repeat_heads");
  check_in("repeat_heads", x.dim() == 4, "x ", x.shape(), " must be [B, H, T, width]");
  const Index heads = x.size(1);
  if (heads == count) return x;
  check_in("repeat_heads", heads >= 1 && count >= 1 && count % heads == 0, count, " heads must be a multiple of the ",
           heads, " heads of x ", x.shape());
  const Shape each = x.shape().insert(2, count / heads);
  return reshape(expand(unsqueeze(x, 2), each), x.shape().with(1, count));
}

}  // namespace mote
