// Axes, the list of axes that a reduction reduces.
#pragma once

#include <array>
#include <initializer_list>
#include <span>

#include "engine/base/shape.h"

namespace mote {

/// The axes of a reduction, as in sum(x, {0, -1}) or sum(x, 0). An empty list means all axes. Errors: more axes than
/// the rank limit.
class Axes {
 public:
  Axes() = default;
  template <detail::Whole T>
  Axes(T axis) : axes_{static_cast<Index>(axis)}, count_(1) {}
  Axes(std::initializer_list<Integer> axes) : Axes(detail::plain(axes)) {}
  template <detail::NoWhole T>
  __attribute__((unavailable("axes stand before the flag: write sum(x, -1, true), or sum(x, {}, true) for all axes")))
  Axes(T no_axis);
  template <std::floating_point T>
  __attribute__((unavailable(
      "an axis is an integer: write max(x, 0), or maximum(x, 0.0) for the larger of two numbers"))) Axes(T no_axis);
  Axes(std::span<const Index> axes) : count_(static_cast<int>(axes.size())) {
    check_in("reduce", axes.size() <= Shape::max_rank, axes.size(), " axes are above the limit of ", Shape::max_rank);
    std::copy(axes.begin(), axes.end(), axes_.begin());
  }

  const Index* begin() const { return axes_.data(); }
  const Index* end() const { return axes_.data() + count_; }
  bool empty() const { return count_ == 0; }

  /// Returns these axes for an array of rank `rank`, sorted and counted from 0. Returns all axes if none are listed.
  /// Errors: an axis out of range or listed twice.
  Axes of(int rank) const;

 private:
  std::array<Index, Shape::max_rank> axes_{};
  int count_ = 0;
};

/// The shape after a reduction over `axes`. The axes are removed, or have extent 1 if keepdim is true.
Shape reduced_shape(const Shape& shape, const Axes& axes, Flag keepdim);

}  // namespace mote
