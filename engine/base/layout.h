// Layout: the shape, strides and offset that place an array's elements in memory, and the arithmetic of its views.
#pragma once

#include <optional>
#include <span>

#include "engine/base/shape.h"

namespace mote {

/// Distance in elements between neighbours along each axis; 0 where an axis repeats one element.
using Strides = PerAxis;

/// Places the elements of an array in its storage. The first element is at position `offset` of the storage. Element
/// [i, j, ...] is i * stride(0) + j * stride(1) + ... elements after the first. A view is another Layout over the same
/// storage.
class Layout {
 public:
  Layout() {}  ///< the layout of an array that is not defined
  /// The row-major layout without gaps.
  explicit Layout(const Shape& shape, Index offset = 0) { reset(shape), offset_ = offset; }
  Layout(const Shape& shape, const Strides& strides, Index offset = 0)
      : offset_(offset), numel_(shape.numel()), strides_(strides), shape_(shape) {}
  /// Turns a default-constructed layout into Layout(shape), in place. Every result of an op needs this, and assigning
  /// Layout(shape) would cost the time of a copy.
  void reset(const Shape& shape) {
    Index step = 1, numel = 1;
    const Index* const extents = shape.begin();
    for (int i = shape.rank() - 1; i >= 0; --i) {
      strides_[i] = step;
      step *= extents[i] > 0 ? extents[i] : 1;
      numel *= extents[i];
    }
    offset_ = 0;
    numel_ = numel;
    shape_ = shape;
  }

  const Shape& shape() const& { return shape_; }
  Shape shape() && { return shape_; }
  const Strides& strides() const& { return strides_; }
  Strides strides() && { return strides_; }
  Index stride(Integer axis) const { return strides_[shape_.axis(axis)]; }
  Index offset() const { return offset_; }
  Index numel() const { return numel_; }
  int rank() const { return shape_.rank(); }
  /// Whether the elements are in row-major order without gaps.
  bool is_contiguous() const {
    Index step = 1;
    for (int i = rank() - 1; i >= 0; --i) {
      const Index extent = shape_.begin()[i];
      if (extent != 1 && strides_[i] != step && numel_ != 0) return false;
      step *= extent;
    }
    return true;
  }

  /// Distance in elements from the first element to the one at `index`. `index` has one position per axis, and
  /// negative positions count from the end. Errors: a wrong number of positions, a position out of range.
  Index offset_of(std::span<const Index> index) const;
  /// Distance in elements from the array's first element to the first element of part `number`. A part spans the last
  /// `inner` axes. So parts are single elements if `inner` is 0, rows if it is 1, and matrices if it is 2. Parts are
  /// counted in row-major order.
  Index offset_of_part(Index number, int inner) const {
    Index offset = 0;
    for (int axis = rank() - inner - 1; axis >= 0; --axis) {
      const Index extent = shape_.begin()[axis];
      offset += number % extent * strides_[axis];
      number /= extent;
    }
    return offset;
  }

  // The layouts of views, which Strided (engine/array/strided.h) describes. Errors: axes and positions out of range,
  // shapes that do not fit.

  /// Returns the layout of a view of shape `to`, which must have the same numel. The view has the same elements in
  /// row-major order. Returns nullopt if the strides do not allow such a view.
  std::optional<Layout> try_view(const Shape& to) const;
  Layout transpose(Integer axis0, Integer axis1) const;
  Layout permute(std::span<const Index> axes) const;
  Layout slice(Integer axis, Integer start, Integer end, Integer step = 1) const;
  Layout select(Integer axis, Integer position) const;
  /// Whether expand(to) is possible.
  bool expands_to(const Shape& to) const;
  Layout expand(const Shape& to) const;
  Layout squeeze(Integer axis) const { return shape_[axis] == 1 ? *try_view(shape_.without(axis)) : *this; }
  Layout unsqueeze(Integer axis) const { return *try_view(shape_.insert(axis, 1)); }

 private:
  Index offset_ = 0, numel_ = 0;
  Strides strides_;
  Shape shape_;
};

}  // namespace mote
