// Along, which finds elements by an index along one axis: for gather, argmax, sort and what runs along an axis.
#pragma once

#include <utility>

#include "engine/array/array.h"
#include "engine/array/int_array.h"

namespace mote::detail {

/// Where the elements of x, contiguous, lie that an index of shape `index` selects along an axis: NumPy's
/// take_along_axis. Position i of the index belongs to a line of x along the axis; element j of it is at line(i) + j *
/// step.
struct Along {
  Index step;
  Layout lines;

  Along(const Shape& x, Integer axis, const Shape& index) {
    Strides strides = Layout(x).strides();
    step = std::exchange(strides[x.axis(axis)], 0);
    lines = Layout(index, strides);
  }
  Index line(Index i) const { return lines.offset_of_part(i, 0); }

  template <ArrayLike A>
  A take(const A& x, const IntArray& index) const {
    const A in = x.contiguous();
    A y = A::empty(index.shape());
    auto* const out = y.mutate();
    for (Index i = 0; i < y.numel(); ++i) out[i] = in.data()[line(i) + index.data()[i] * step];
    return y;
  }
  /// x with y, of the index's shape, added to it in row-major order.
  Array put(Array x, const IntArray& index, const Array& y) const {
    real* const to = x.mutate();
    const Array from = y.contiguous();
    for (Index i = 0; i < from.numel(); ++i) to[line(i) + index.data()[i] * step] += from.data()[i];
    return x;
  }
};

}  // namespace mote::detail
