// Sorts the axes of a reduction, counted from 0, and computes the shape of the result.
#include "engine/array/axes.h"

#include <algorithm>
#include <numeric>

namespace mote {

Axes Axes::of(int rank) const {
  Axes sorted = *this;
  if (empty()) {
    sorted.count_ = rank;
    std::iota(sorted.axes_.begin(), sorted.axes_.begin() + rank, Index(0));
  }
  const std::span<Index> list(sorted.axes_.data(), static_cast<std::size_t>(sorted.count_));
  for (Index& a : list) {
    check_in("reduce", a >= -rank && a < rank, "axis ", a, " is out of range for rank ", rank);
    if (a < 0) a += rank;
  }
  std::sort(list.begin(), list.end());
  const auto twice = std::adjacent_find(list.begin(), list.end());
  if (twice != list.end()) check_in("reduce", false, "axis ", *twice, " (or ", *twice - rank, ") is listed twice");
  return sorted;
}

Shape reduced_shape(const Shape& shape, const Axes& axes, Flag keepdim) {
  Shape result = shape;
  int gone = 0;  // number of axes removed so far
  for (const Index axis : axes.of(shape.rank()))
    result = keepdim ? result.with(axis, 1) : result.without(axis - gone++);
  return result;
}

}  // namespace mote
