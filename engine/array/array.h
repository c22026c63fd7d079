// Array: elements of type real with a shape, without gradients. It has value semantics. This header also has the
// arithmetic of arrays.
#pragma once

#include <span>
#include <type_traits>

#include "engine/array/axes.h"
#include "engine/array/strided.h"
#include "engine/kernels/kernels.h"

namespace mote {

namespace detail {
#ifdef _GLIBCXX_DEBUG
struct with_GLIBCXX_DEBUG;
using Containers = with_GLIBCXX_DEBUG;
#else
struct without_GLIBCXX_DEBUG;
using Containers = without_GLIBCXX_DEBUG;
#endif
/// Every source file of a program refers to this function, which the library defines only for its own `real` and its
/// own layout of containers. So the linker rejects a program whose `real` or containers differ from the library's.
void library_of(real, Containers*);
[[gnu::used]] static void (*const wanted_library)(real, Containers*) = &library_of;
}  // namespace detail

/// A plain number of any arithmetic type but bool. In arithmetic with an Array or a Tensor the number is converted to
/// `real`.
template <class S>
concept Number = std::is_arithmetic_v<S> && !std::same_as<S, bool>;

/// Elements of type real with a shape. Copies and views share storage, but writing to one never changes another.
class Array : public Strided<Array, real> {
 public:
  static constexpr const char* not_defined =
      "the array is an empty Array(): it was never computed, was moved from, or is a gradient before backward()";

  Array() = default;
  Array(const Array&) = default;
  Array(Array&&) noexcept = default;
  ~Array() = default;
  Array& operator=(const Array&) & = default;  // not to a temporary, such as a slice: the assignment would be lost
  Array& operator=(Array&&) & noexcept = default;
  /// A scalar, an array of rank 0.
  template <Number S>
  Array(S value) : Array(full(Shape{}, static_cast<real>(value))) {}
  /// An array with these values, given in row-major order. Errors: the number of values is not the shape's numel().
  Array(const Shape& shape, std::span<const real> values) : Strided(shape, values) {}
  static Array zeros(const Shape& shape) { return full(shape, 0, "zeros"); }
  /// An array that is not defined, for a Parameter that has no value yet. Using it is an error, whose message says that
  /// a parameter has not been filled.
  static Array unfilled() {
    Array x;
    x.unfilled_ = true;
    return x;
  }
  template <std::same_as<Array> A>
  __attribute__((
      unavailable("a const function changes no field; a buffer that forward updates is mutable: mutable Array "
                  "running_mean"))) const Array&
  operator=(const A&) const;
  const char* missing() const {
    return unfilled_ ? "a parameter has not been filled: its layer's constructor must give it a value, as in "
                       "scale = Parameter(Array::zeros({n}))"
                     : not_defined;
  }

 private:
  bool unfilled_ = false;
};

/// Applies a kernel f of the table to every element, as in map(kernels::table().exp, x).
Array map(kernels::Unary* f, const Array& x);
/// Applies a kernel f of the table to pairs of elements with broadcasting, as in zip(kernels::table().add, a, b).
/// Either operand may be a plain number. Errors: shapes that do not broadcast.
Array zip(kernels::Binary* f, const Array& a, const Array& b);
Array zip(kernels::Binary* f, const Array& a, real b);
Array zip(kernels::Binary* f, real a, const Array& b);

// Element-wise arithmetic with broadcasting. Errors: shapes that do not broadcast.
inline Array operator+(const Array& a, const Array& b) { return zip(kernels::table().add, a, b); }
inline Array operator-(const Array& a, const Array& b) { return zip(kernels::table().sub, a, b); }
inline Array operator*(const Array& a, const Array& b) { return zip(kernels::table().mul, a, b); }
inline Array operator/(const Array& a, const Array& b) { return zip(kernels::table().div, a, b); }
inline Array operator-(const Array& x) { return map(kernels::table().neg, x); }
inline Array operator+(const Array& x, Number auto s) { return zip(kernels::table().add, x, static_cast<real>(s)); }
inline Array operator-(const Array& x, Number auto s) { return zip(kernels::table().sub, x, static_cast<real>(s)); }
inline Array operator*(const Array& x, Number auto s) { return zip(kernels::table().mul, x, static_cast<real>(s)); }
inline Array operator/(const Array& x, Number auto s) { return zip(kernels::table().div, x, static_cast<real>(s)); }
inline Array operator+(Number auto s, const Array& x) { return zip(kernels::table().add, static_cast<real>(s), x); }
inline Array operator-(Number auto s, const Array& x) { return zip(kernels::table().sub, static_cast<real>(s), x); }
inline Array operator*(Number auto s, const Array& x) { return zip(kernels::table().mul, static_cast<real>(s), x); }
inline Array operator/(Number auto s, const Array& x) { return zip(kernels::table().div, static_cast<real>(s), x); }

/// total += x. If another array shares total's elements, total gets its own copy first. Errors: shapes that differ.
void accumulate(Array& total, const Array& x);
/// Like accumulate, but adds x only to the positions start, start + step, ... below `end` along an axis. The gradient
/// of a slice is added this way.
void accumulate_slice(Array& total, Integer axis, Integer start, Integer end, Integer step, const Array& x);

// Reductions over `axes`, or over all axes if none are given. With keepdim a reduced axis stays with extent 1. Sums are
// computed for blocks of 4096 elements or 128 rows, each in 16 lanes. The sums of blocks are added in groups of 128.
// This order of additions depends only on the shape. The sum of no elements is 0; max and min of no elements are
// errors. If any element is NaN, the result is NaN.
/// The sum over `axes`.
Array sum(const Array& x, const Axes& axes = {}, Flag keepdim = false);
/// The largest element over `axes`.
Array max(const Array& x, const Axes& axes = {}, Flag keepdim = false);
/// The smallest element over `axes`.
Array min(const Array& x, const Axes& axes = {}, Flag keepdim = false);
/// Sums x down to `shape`, which must broadcast to x's shape. Gradients undo broadcasting this way.
Array sum_to(const Array& x, const Shape& shape);

/// Matrix product of the last two axes; leading axes broadcast. a [..., M, K], b [..., K, N] -> [..., M, N]. If a has
/// rank 1, it counts as a row. If b has rank 1, it counts as a column. The result has no axis for such a row or column.
/// a and b may have any strides and are not copied. Errors: inner extents differ, rank 0.
Array matmul(const Array& a, const Array& b);
/// x W^T + bias: x [..., in], weight [out, in], bias [out] or not defined -> [..., out]. The bias is added to every row
/// once, after the matrix product. Errors: other shapes.
Array linear(const Array& x, const Array& weight, const Array& bias);
/// x [..., n] as one matrix [rows, n]. All leading axes together become the rows. The result is a view if the strides
/// allow it.
Array as_rows(const Array& x);

}  // namespace mote
