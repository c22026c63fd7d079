// Array itself: construction, copy on write, views.
#include "engine/array/array.h"

#include <cstring>

namespace mote {

Array::Strides row_major(const Shape& shape) {
  Array::Strides strides{};
  Index step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = step;
    step *= std::max<Index>(shape[i], 1);
  }
  return strides;
}

Array Array::empty(const Shape& shape) {
  Array a;
  a.shape_ = shape;
  a.numel_ = shape.numel();
  a.strides_ = row_major(shape);
  a.storage_ = Storage(static_cast<std::size_t>(a.numel_) * sizeof(real));
  return a;
}

Array Array::full(const Shape& shape, real value) {
  Array a = empty(shape);
  std::fill_n(static_cast<real*>(a.storage_.data()), a.numel_, value);
  return a;
}

Array::Array(real value) : Array(full(Shape{}, value)) {}

Array::Array(const Shape& shape, std::span<const real> values) {
  check_in("array", static_cast<Index>(values.size()) == shape.numel(), values.size(), " values do not fill shape ",
           shape);
  *this = empty(shape);
  if (numel_) std::memcpy(storage_.data(), values.data(), values.size_bytes());
}

bool Array::is_contiguous() const {
  Index step = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    const std::size_t a = static_cast<std::size_t>(i);
    const Index extent = *(shape_.begin() + i);
    if (extent != 1 && strides_[a] != step && numel_ != 0) return false;
    step *= extent;
  }
  return true;
}

real* Array::mutate() {
  require();
  if (!storage_.unique() || !is_contiguous()) *this = copy_of(*this);
  return static_cast<real*>(storage_.data()) + offset_;
}

Array Array::with_layout(const Shape& shape, const Strides& strides, Index offset) const {
  require();
  Array a;
  a.storage_ = storage_;
  a.offset_ = offset;
  a.shape_ = shape;
  a.numel_ = shape.numel();
  a.strides_ = strides;
  return a;
}

real Array::at(std::span<const Index> index) const {
  check_in("at", static_cast<int>(index.size()) == rank(), index.size(), " positions for shape ", shape_);
  Index offset = 0;
  for (int i = 0; i < rank(); ++i) {
    const Index position = index[static_cast<std::size_t>(i)], extent = shape_[i];
    check_in("at", position >= -extent && position < extent, "position ", position, " is out of range for axis ", i,
             " of ", shape_);
    offset += (position < 0 ? position + extent : position) * stride(i);
  }
  return data()[offset];
}

real Array::item() const {
  require();
  check_in("item", numel_ == 1, "needs exactly one element, but the shape is ", shape_);
  return *data();
}

std::vector<real> Array::to_vector() const {
  const Array c = contiguous();
  return numel_ ? std::vector<real>(c.data(), c.data() + numel_) : std::vector<real>{};
}

/// A view exists when every run of new axes splits or joins old axes that lie one inside the other in memory.
bool Array::try_view(const Shape& to, Array& out) const {
  if (is_contiguous()) {
    out = with_layout(to, row_major(to), offset_);
    return true;
  }
  Strides strides{};
  int old_axis = rank() - 1, new_axis = to.rank() - 1;
  while (old_axis >= 0) {
    // one run of old axes that behaves as a single axis with stride `step`
    const Index step = stride(old_axis);
    Index extent = shape_[old_axis];
    while (old_axis > 0 && (shape_[old_axis - 1] == 1 || stride(old_axis - 1) == step * extent))
      extent *= shape_[--old_axis];
    --old_axis;
    Index covered = 1;
    while (new_axis >= 0 && (covered < extent || to[new_axis] == 1)) {
      strides[static_cast<std::size_t>(new_axis)] = step * covered;
      covered *= to[new_axis--];
    }
    if (covered != extent) return false;
  }
  if (new_axis >= 0) return false;
  out = with_layout(to, strides, offset_);
  return true;
}

Array Array::reshape(std::span<const Index> extents) const {
  const Shape to = detail::resolve("reshape", shape_, extents);
  Array out;
  if (!try_view(to, out)) contiguous().try_view(to, out);
  return out;
}

Array Array::view(std::span<const Index> extents) const {
  const Shape to = detail::resolve("view", shape_, extents);
  Array out;
  check_in("view", try_view(to, out), "the numbers of shape ", shape_, " do not lie in order for ", to,
           " (they were transposed or sliced): use reshape");
  return out;
}

Array Array::transpose(int axis0, int axis1) const {
  const int a = shape_.axis(axis0), b = shape_.axis(axis1);
  Strides strides = strides_;
  std::swap(strides[static_cast<std::size_t>(a)], strides[static_cast<std::size_t>(b)]);
  return with_layout(shape_.with(a, shape_[b]).with(b, shape_[a]), strides, offset_);
}

Array Array::permute(std::span<const int> axes) const {
  check_in("permute", static_cast<int>(axes.size()) == rank(), axes.size(), " axes for shape ", shape_);
  Shape shape = shape_;
  Strides strides{};
  unsigned seen = 0;
  for (int i = 0; i < rank(); ++i) {
    const int from = shape_.axis(axes[static_cast<std::size_t>(i)]);
    check_in("permute", !(seen >> from & 1u), "axis ", from, " stands twice");
    seen |= 1u << from;
    shape = shape.with(i, shape_[from]);
    strides[static_cast<std::size_t>(i)] = strides_[static_cast<std::size_t>(from)];
  }
  return with_layout(shape, strides, offset_);
}

Array Array::slice(int axis, Index start, Index end, Index step) const {
  const int a = shape_.axis(axis);
  const Index extent = shape_[a];
  check_in("slice", step >= 1, "step ", step, " must be at least 1");
  const auto clamped = [extent](Index i) { return std::clamp<Index>(i < 0 ? i + extent : i, 0, extent); };
  const Index first = clamped(start), last = std::max(first, clamped(end));
  Strides strides = strides_;
  const Index stride_step = std::min(step, std::max<Index>(extent, 1));  // beyond the extent a step reaches nothing
  strides[static_cast<std::size_t>(a)] *= stride_step;
  return with_layout(shape_.with(a, last > first ? (last - first - 1) / stride_step + 1 : 0), strides,
                     offset_ + (last > first ? first * stride(a) : 0));
}

Array Array::select(int axis, Index position) const {
  const int a = shape_.axis(axis);
  const Index extent = shape_[a];
  check_in("select", position >= -extent && position < extent, "position ", position, " is out of range for axis ",
           axis, " of ", shape_);
  return slice(a, position < 0 ? position + extent : position, (position < 0 ? position + extent : position) + 1)
      .squeeze(a);
}

Array Array::expand(const Shape& shape) const {
  check_in("expand", shape.rank() >= rank(), "shape ", shape_, " does not expand to ", shape);
  Strides strides{};
  for (int i = 1; i <= rank(); ++i) {
    check_in("expand", shape_[-i] == shape[-i] || shape_[-i] == 1, "shape ", shape_, " does not expand to ", shape,
             " (axis ", -i, ": ", shape_[-i], " against ", shape[-i], ")");
    strides[static_cast<std::size_t>(shape.rank() - i)] = shape_[-i] == shape[-i] ? stride(-i) : 0;
  }
  return with_layout(shape, strides, offset_);
}

Array Array::squeeze(int axis) const {
  const int a = shape_.axis(axis);
  if (shape_[a] != 1) return *this;  // as in PyTorch
  Strides strides{};
  for (int i = 0, j = 0; i < rank(); ++i)
    if (i != a) strides[static_cast<std::size_t>(j++)] = strides_[static_cast<std::size_t>(i)];
  return with_layout(shape_.without(a), strides, offset_);
}

Array Array::unsqueeze(int axis) const {
  const Shape shape = shape_.insert(axis, 1);
  const int a = axis < 0 ? axis + shape.rank() : axis;
  Strides strides{};
  for (int i = 0, j = 0; i < shape.rank(); ++i)
    strides[static_cast<std::size_t>(i)] = i == a ? 1 : strides_[static_cast<std::size_t>(j++)];
  return with_layout(shape, strides, offset_);
}

}  // namespace mote
