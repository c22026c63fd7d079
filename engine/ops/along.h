// Along, which finds elements by an index along one axis. gather, argmax, sort, cumsum and other ops use it.
#pragma once

#include <utility>

#include "engine/array/array.h"
#include "engine/array/int_array.h"

namespace mote::detail {

/// Finds the elements of a contiguous x that an index selects along an axis, as in NumPy's take_along_axis. The
/// constructor takes the shapes of x and of the index. Position i of the index, in row-major order, belongs to one
/// line of x along the axis. Element j of this line has the offset line(i) + j * step in x.
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
  /// x with y added to the elements that the index selects, in row-major order. y has the shape of the index.
  Array put(Array x, const IntArray& index, const Array& y) const {
    real* const to = x.mutate();
    const Array from = y.contiguous();
    for (Index i = 0; i < from.numel(); ++i) to[line(i) + index.data()[i] * step] += from.data()[i];
    return x;
  }
};

}  // namespace mote::detail
