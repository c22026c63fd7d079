// Array, a value: numbers with a shape and strides over shared storage; its views and its algebra.
#pragma once

#include <span>
#include <vector>

#include "engine/base/shape.h"
#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"

namespace mote {

/// Numbers with a shape. Copying is cheap (storage is shared) and safe: writing goes through mutate(), which first
/// makes sure that nobody else sees the write. Views (reshape, transpose, slice ...) take constant time and share
/// storage. A default-made Array is "not defined": it has no numbers at all.
class Array {
 public:
  using Strides = std::array<Index, Shape::max_rank>;

  Array() = default;
  /// One number, rank 0.
  Array(real value);
  /// `values` in row-major order. Errors: their count is not shape's.
  Array(const Shape& shape, std::span<const real> values);
  /// Numbers not yet written: for results that a kernel fills at once.
  static Array empty(const Shape& shape);
  static Array full(const Shape& shape, real value);
  static Array zeros(const Shape& shape) { return full(shape, 0); }

  bool defined() const { return static_cast<bool>(storage_); }
  const Shape& shape() const { return shape_; }
  int rank() const { return shape_.rank(); }
  Index numel() const { return numel_; }
  /// Distance in elements between neighbours along an axis; 0 where an axis repeats (expand).
  Index stride(int axis) const { return strides_[static_cast<std::size_t>(shape_.axis(axis))]; }
  const Strides& strides() const { return strides_; }
  /// Row-major without gaps.
  bool is_contiguous() const;
  /// Both lie in one storage: one is a view or a copy of the other.
  bool shares_storage(const Array& other) const { return storage_ == other.storage_; }

  /// Errors: this Array is not defined.
  void require() const {
    check_in("array", defined(), "an array is not defined (a gradient before backward, a tensor without numbers?)");
  }
  /// The first element; element [i, j, ...] is data()[i * stride(0) + j * stride(1) + ...].
  const real* data() const { return static_cast<const real*>(storage_.data()) + offset_; }
  /// Where to write: afterwards this Array is contiguous and the only owner of its numbers; they are copied first if
  /// not.
  real* mutate();
  /// The same numbers, row-major: this Array itself if it already is.
  Array contiguous() const;
  /// The element at `index`, one position per axis (negative ones count from the end). Errors: out of range.
  real at(std::span<const Index> index) const;
  real at(std::initializer_list<Index> index) const { return at(std::span<const Index>(index.begin(), index.size())); }
  /// The only element. Errors: there are none or several.
  real item() const;
  /// All elements in row-major order.
  std::vector<real> to_vector() const;

  // Views. Errors: axes and positions out of range, products of extents that do not match.
  /// The same elements in row-major order under another shape; one extent may be -1 and is worked out. Shares storage
  /// when the strides allow it, copies otherwise.
  Array reshape(std::span<const Index> extents) const;
  Array reshape(const Shape& shape) const { return reshape(std::span<const Index>(shape)); }
  Array reshape(std::initializer_list<Index> extents) const {
    return reshape(std::span<const Index>(extents.begin(), extents.size()));
  }
  /// As reshape, but never copies. Errors: the strides do not allow it; the sentence says to use reshape.
  Array view(std::span<const Index> extents) const;
  Array transpose(int axis0, int axis1) const;
  Array permute(std::span<const int> axes) const;
  /// Positions start, start + step, ... below end along an axis. start and end count from the end when negative and are
  /// clamped to the extent, as in Python; step >= 1.
  Array slice(int axis, Index start, Index end, Index step = 1) const;
  /// One position of an axis; the axis goes. Errors: position outside [-extent, extent).
  Array select(int axis, Index position) const;
  /// Axes of extent 1 and new leading axes repeated to `shape`, with stride 0: no copy.
  Array expand(const Shape& shape) const;
  Array squeeze(int axis) const;
  Array unsqueeze(int axis) const;

 private:
  Array with_layout(const Shape& shape, const Strides& strides, Index offset) const;
  bool try_view(const Shape& shape, Array& out) const;

  Storage storage_;
  Index offset_ = 0, numel_ = 0;
  Shape shape_;
  Strides strides_{};
};

/// The same numbers in storage of their own, row-major.
Array copy_of(const Array& x);
/// Strides of a row-major array without gaps.
Array::Strides row_major(const Shape& shape);

// Element-wise algebra with broadcasting. Errors: shapes that do not broadcast.
Array operator+(const Array& a, const Array& b);
Array operator-(const Array& a, const Array& b);
Array operator*(const Array& a, const Array& b);
Array operator/(const Array& a, const Array& b);
Array operator-(const Array& x);
Array operator+(const Array& a, real b);
Array operator-(const Array& a, real b);
Array operator*(const Array& a, real b);
Array operator/(const Array& a, real b);
Array operator+(real a, const Array& b);
Array operator-(real a, const Array& b);
Array operator*(real a, const Array& b);
Array operator/(real a, const Array& b);

/// f of the table over every element: map(kernels::table().exp, x).
Array map(kernels::Unary* f, const Array& x);
/// f of the table over pairs of elements, broadcast: zip(kernels::table().add, a, b).
Array zip(kernels::Binary* f, const Array& a, const Array& b);
/// Any function of one number over every element; for formulas that the table does not have. One thread, no vectors.
template <class F>
Array map_each(const Array& x, F f) {
  Array y = x.contiguous();
  real* const out = y.mutate();
  for (Index i = 0; i < y.numel(); ++i) out[i] = f(out[i]);
  return y;
}

/// total += x, in place where `total` owns its numbers. Shapes must be equal.
void accumulate(Array& total, const Array& x);
/// The same for positions start, start + step, ... of an axis only: what a slice's gradient adds to.
void accumulate_slice(Array& total, int axis, Index start, Index end, Index step, const Array& x);

// Reductions over `axes` (none given: all). keepdim leaves an extent of 1. Sums run in 16 lanes over blocks of 4096
// elements, in an order that only the shape decides. Empty: sum 0; max and min are errors. NaN wins over every number.
Array sum(const Array& x, std::span<const int> axes = {}, bool keepdim = false);
Array max(const Array& x, std::span<const int> axes = {}, bool keepdim = false);
Array min(const Array& x, std::span<const int> axes = {}, bool keepdim = false);
/// Summed down to `shape`, from which x's shape is a broadcast: how gradients undo broadcasting.
Array sum_to(const Array& x, const Shape& shape);

/// Matrix product of the last two axes; leading axes broadcast. a [..., M, K], b [..., K, N] -> [..., M, N]. Rank 1
/// counts as a row on the left and as a column on the right, and goes from the result. Any strides, nothing copied.
/// Errors: inner extents differ, rank 0.
Array matmul(const Array& a, const Array& b);

/// Axes [0, rank) with `axes` removed (sorted), or an error for an axis twice or out of range; all axes when none
/// given.
std::vector<int> normalized_axes(int rank, std::span<const int> axes);
/// The shape that a reduction over `axes` leaves.
Shape reduced_shape(const Shape& shape, std::span<const int> axes, bool keepdim);

}  // namespace mote
