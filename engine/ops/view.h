// Ops that rearrange elements without changing them: reshape, transpose, slice, concat, expand and others.
#pragma once

#include "engine/array/int_array.h"
#include "engine/array/join.h"
#include "engine/autograd/op.h"

namespace mote {

namespace detail {
/// Records y, x's elements in x's order under another shape.
inline Tensor reshaped(Op& op, const Tensor& x, Array y) {
  return op.record(std::move(y), save(x.shape()),
                   [](const Array& dy, Grads& dx, const Shape& shape) { dx.add(0, dy.reshape(shape)); });
}
}  // namespace detail

/// The same elements in row-major order under another shape; one extent may be -1 and is inferred.
/// Errors: a number of elements that does not match, more than one -1.
inline Tensor reshape(const Tensor& x, std::initializer_list<Integer> extents) {
  Op op("reshape", x);
  return detail::reshaped(op, x, x.array().reshape(extents));
}
/// The same with a Shape, such as that of another tensor.
inline Tensor reshape(const Tensor& x, const Shape& shape) {
  Op op("reshape", x);
  return detail::reshaped(op, x, x.array().reshape(shape));
}

/// As reshape, but never copies. Errors: strides that do not allow it (transposed, sliced): use reshape.
inline Tensor view(const Tensor& x, std::initializer_list<Integer> extents) {
  Op op("view", x);
  return detail::reshaped(op, x, x.array().view(extents));
}
inline Tensor view(const Tensor& x, const Shape& shape) {
  Op op("view", x);
  return detail::reshaped(op, x, x.array().view(std::span<const Index>(shape)));
}

/// The same elements in row-major order. mote's ops accept any layout; this is for code that follows a tutorial.
inline Tensor contiguous(const Tensor& x) {
  Op op("contiguous", x);
  return op.record(x.array().contiguous(), [](const Array& dy, Grads& dx) { dx.add(0, dy); });
}

/// Two axes swapped: [..., A, ..., B, ...] -> [..., B, ..., A, ...]. Errors: an axis out of range.
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

/// Positions start, start + step, ... below end of an axis. start and end count from the end when negative and are
/// clamped to the extent, as in Python. Errors: an axis out of range, step < 1.
inline Tensor slice(const Tensor& x, Integer axis, Integer start, Integer end, Integer step = 1) {
  Op op("slice", x);
  return op.record(x.array().slice(axis, start, end, step), save(axis, start, end, step),
                   [](const Array& dy, Grads& dx, Integer axis, Integer start, Integer end, Integer step) {
                     dx.add_slice(0, axis, start, end, step, dy);
                   });
}

/// Selects one position and removes the axis. Errors: a position outside [-extent, extent).
inline Tensor select(const Tensor& x, Integer axis, Integer position) {
  Op op("select", x);
  Array y = x.array().select(axis, position);
  const Index start = position < 0 ? position + x.shape()[axis] : Index(position);
  return op.record(std::move(y), save(x.shape().axis(axis), start), [](const Array& dy, Grads& dx, int a, Index start) {
    dx.add_slice(0, a, start, start + 1, 1, dy.unsqueeze(a));
  });
}

/// Parts of the given sizes along an axis, in order. Errors: sizes that do not add up to the extent.
inline std::vector<Tensor> split(const Tensor& x, const std::vector<Index>& sizes, Integer axis = 0) {
  const Op op("split");
  Index total = 0;
  for (const Index n : sizes) {
    check(n >= 0, "size ", n, " must be at least 0");
    total =
        std::min(total + std::min(n, Shape::max_numel), Shape::max_numel);  // a sum of huge sizes does not wrap around
  }
  check(total == x.shape()[axis], "sizes add up to ", total, ", but axis ", axis, " of ", x.shape(), " has ",
        x.shape()[axis]);
  std::vector<Tensor> parts;
  Index start = 0;
  for (const Index n : sizes) {
    parts.push_back(slice(x, axis, start, start + n));
    start += n;
  }
  return parts;
}

/// Parts of `size` along an axis; the last may be smaller. Errors: size < 1. A number alone: {2} is a list of sizes.
template <detail::Whole Number>
std::vector<Tensor> split(const Tensor& x, Number number, Integer axis = 0) {
  const Op op("split");
  const Index size = Integer(number);
  check(size >= 1, "size ", size, " must be at least 1");
  std::vector<Index> sizes;
  for (Index left = x.shape()[axis]; left > 0; left -= size) sizes.push_back(std::min(size, left));
  return split(x, sizes, axis);
}

template <std::floating_point Number>
__attribute__((unavailable("an integer stands here, not a fraction: write 1, not 1.0"))) std::vector<Tensor> split(
    const Tensor& x, Number fraction, Integer axis = 0);

/// At most `count` parts of equal size (the last may be smaller) along an axis. Errors: count < 1.
inline std::vector<Tensor> chunk(const Tensor& x, Integer count, Integer axis = 0) {
  const Op op("chunk");
  check(count >= 1, "count ", count, " must be at least 1");
  return split(x, std::max<Index>(1, x.shape()[axis] / count + (x.shape()[axis] % count != 0)), axis);
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
/// Errors: no tensors, shapes that differ elsewhere.
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
/// The same of indices.
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

/// Stacks tensors of one shape along a new axis: n of [A, B] with axis 0 -> [n, A, B].
/// Errors: no tensors, different shapes.
inline Tensor stack(const std::vector<Tensor>& parts, Integer axis = 0) {
  Op op("stack", parts);
  const Array y = stacked(detail::arrays_of(parts), axis);
  return op.record(y, save(parts.size(), axis), [](const Array& dy, Grads& dx, std::size_t count, Integer axis) {
    for (std::size_t i = 0; i < count; ++i)
      if (dx.wants(i)) dx.add(i, dy.select(axis, static_cast<Index>(i)));
  });
}
/// The same of indices.
inline IntArray stack(const std::vector<IntArray>& parts, Integer axis = 0) {
  const Op op("stack");
  return stacked(parts, axis);
}

/// Repeats extents of 1, and new leading axes, to `shape` without a copy. The gradient is summed over them.
/// Errors: an extent that is neither equal nor 1.
inline Tensor expand(const Tensor& x, const Shape& shape) {
  Op op("expand", x);
  return op.record(x.array().expand(shape), [](const Array& dy, Grads& dx) { dx.add(0, dy); });
}

namespace detail {
/// Over the last two axes, zero where column - row is above `diagonal` (keeps the lower triangle), or below it.
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

/// [B, T, count * width] -> [B, count, T, width]: head h takes columns from h * width on. A view: nothing is copied.
/// Errors: another rank, a count below 1, one that does not divide the width of x.
inline Tensor split_heads(const Tensor& x, Integer count) {
  x.array().require("split_heads");
  check_in("split_heads", x.dim() == 3, "x ", x.shape(), " must be [B, T, C]");
  check_in("split_heads", count >= 1 && x.size(2) % count == 0, "x ", x.shape(), " does not hold ", count, " heads");
  return transpose(reshape(x, {x.size(0), x.size(1), count, x.size(2) / count}), 1, 2);
}

/// [B, count, T, width] -> [B, T, count * width]: undoes split_heads. The result of attention() is not copied. Errors:
/// another rank.
inline Tensor join_heads(const Tensor& x) {
  x.array().require("join_heads");
  check_in("join_heads", x.dim() == 4, "x ", x.shape(), " must be [B, H, T, width]");
  return reshape(transpose(x, 1, 2), {x.size(0), x.size(2), x.size(1) * x.size(3)});
}

/// Each head [B, Hkv, T, width] as often as there are heads of queries that share it: -> [B, count, T, width].
/// Errors: another rank, a count that its heads do not divide.
inline Tensor repeat_heads(const Tensor& x, Index count) {
  x.array().require("repeat_heads");
  check_in("repeat_heads", x.dim() == 4, "x ", x.shape(), " must be [B, H, T, width]");
  const Index heads = x.size(1);
  if (heads == count) return x;
  check_in("repeat_heads", heads >= 1 && count >= 1 && count % heads == 0, count, " heads cannot share the ", heads,
           " of x ", x.shape());
  const Shape each = x.shape().insert(2, count / heads);
  return reshape(expand(unsqueeze(x, 2), each), x.shape().with(1, count));
}

}  // namespace mote
