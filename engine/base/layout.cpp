// Computes the shape, strides and offset of each view.
#include "engine/base/layout.h"

#include <algorithm>
#include <utility>

namespace mote {

Index Layout::offset_of(std::span<const Index> index) const {
  check_in("at", static_cast<int>(index.size()) == rank(), "shape ", shape_, " needs ", rank(), " positions, not ",
           index.size());
  Index offset = 0;
  for (int i = 0; i < rank(); ++i) {
    const Index position = index.begin()[i], extent = shape_[i];
    check_in("at", position >= -extent && position < extent, "position ", position, " is out of range for axis ", i,
             " of ", shape_);
    offset += (position < 0 ? position + extent : position) * stride(i);
  }
  return offset;
}

/// Adjacent axes of this layout are joined into one axis if there are no gaps between them in memory. A view of shape
/// `to` exists if every joined axis can be split exactly into adjacent axes of `to`.
std::optional<Layout> Layout::try_view(const Shape& to) const {
  if (is_contiguous()) return Layout(to, offset_);
  Strides strides{};
  int old_axis = rank() - 1, new_axis = to.rank() - 1;
  while (old_axis >= 0) {
    // joins axes of this layout into one axis with stride `step` and `extent` positions
    const Index step = stride(old_axis);
    Index extent = shape_[old_axis];
    while (old_axis > 0 && (shape_[old_axis - 1] == 1 || stride(old_axis - 1) == step * extent))
      extent *= shape_[--old_axis];
    --old_axis;
    Index covered = 1;
    while (new_axis >= 0 && (covered < extent || to[new_axis] == 1)) {
      strides[new_axis] = step * covered;
      covered *= to[new_axis--];
    }
    if (covered != extent) return {};
  }
  if (new_axis >= 0) return {};
  return Layout(to, strides, offset_);
}

Layout Layout::transpose(Integer axis0, Integer axis1) const {
  const int a = shape_.axis(axis0), b = shape_.axis(axis1);
  Strides strides = strides_;
  std::swap(strides[a], strides[b]);
  return {shape_.swapped(a, b), strides, offset_};
}

Layout Layout::permute(std::span<const Index> axes) const {
  check_in("permute", static_cast<int>(axes.size()) == rank(), "shape ", shape_, " needs ", rank(), " axes, not ",
           axes.size());
  PerAxis extents{}, strides{};
  unsigned seen = 0;
  for (int i = 0; i < rank(); ++i) {
    const int from = shape_.axis(axes.begin()[i]);
    check_in("permute", !(seen >> from & 1u), "axis ", from, " (or ", from - rank(), ") is listed twice");
    seen |= 1u << from;
    extents[i] = shape_[from];
    strides[i] = strides_[from];
  }
  return {Shape(extents, rank()), strides, offset_};
}

Layout Layout::slice(Integer axis, Integer start, Integer end, Integer step) const {
  const int a = shape_.axis(axis);
  const Index extent = shape_[a];
  check_in("slice", step >= 1, "step ", step, " must be at least 1");
  const auto clamped = [extent](Index i) { return std::clamp<Index>(i < 0 ? i + extent : i, 0, extent); };
  const Index first = clamped(start), last = std::max(first, clamped(end));
  Strides strides = strides_;
  const Index stride_step =
      std::min<Index>(step, std::max<Index>(extent, 1));  // a larger step selects the same, but could overflow
  strides[a] *= stride_step;
  return {shape_.with(a, last > first ? (last - first - 1) / stride_step + 1 : 0), strides,
          offset_ + (last > first ? first * stride(a) : 0)};
}

Layout Layout::select(Integer axis, Integer position) const {
  const int a = shape_.axis(axis);
  const Index extent = shape_[a];
  check_in("select", position >= -extent && position < extent, "position ", position, " is out of range for axis ",
           axis, " of ", shape_);
  return slice(a, position, position == -1 ? extent : position + 1).squeeze(a);
}

bool Layout::expands_to(const Shape& to) const {
  bool fits = to.rank() >= rank();
  for (int i = 1; fits && i <= rank(); ++i) fits = shape_[-i] == to[-i] || shape_[-i] == 1;
  return fits;
}

Layout Layout::expand(const Shape& to) const {
  check_in("expand", to.rank() >= rank(), "shape ", shape_, " does not broadcast to ", to, ": it has more axes");
  Strides strides{};
  for (int i = 1; i <= rank(); ++i) {
    check_in("expand", shape_[-i] == to[-i] || shape_[-i] == 1, "shape ", shape_, " does not broadcast to ", to,
             " (axis ", -i, ": ", shape_[-i], " against ", to[-i], ")");
    strides[to.rank() - i] = shape_[-i] == to[-i] ? stride(-i) : 0;
  }
  return {to, strides, offset_};
}

}  // namespace mote
