// Strided: the base class of Array, IntArray and Mask, with shared storage, copy on write and views.
#pragma once

#include <algorithm>
#include <concepts>
#include <span>
#include <vector>

#include "engine/base/layout.h"
#include "engine/base/storage.h"

namespace mote {

template <class Self, class T>
class Strided;

namespace detail {
/// Throws an error which says that there is no memory for an array of this shape.
[[noreturn]] void no_memory(const char* who, const Shape& shape);
/// Copies the elements of an array to `to` in row-major order. The array's first element is at `from`, and `layout`
/// places the others.
template <class T>
void copy_elements(const T* from, const Layout& layout, T* to);
}  // namespace detail

/// A copy of x in its own storage, in row-major order.
template <class Self, class T>
Self copy_of(const Strided<Self, T>& x) {
  x.require();
  Self y = Self::empty(x.shape());
  detail::copy_elements(x.data(), x.layout(), y.mutate());
  return y;
}

/// Elements of type T with a shape; Self is the class that derives from this. Copying is cheap because storage is
/// shared. Copying is also safe, because users write through mutate(), which first ensures that no other handle sees
/// the write. Views (reshape, transpose, slice ...) take constant time and share storage. An object made without a
/// shape, or moved from, is "not defined". It has neither elements nor a shape, and asking for either is an error.
template <class Self, class T>
class Strided {
 public:
  using Element = T;

  /// An array with uninitialised elements, for results that are filled immediately. Errors: no memory, here and in
  /// every function that makes elements. The message names the shape, and begins with `who` when no op is running.
  static Self empty(const Shape& shape, const char* who = "empty") {
    Self x;
    x.layout_.reset(shape);
    try {
      x.storage_ = Storage(static_cast<std::uint64_t>(x.layout_.numel()) * sizeof(T));
    } catch (const std::bad_alloc&) {
      detail::no_memory(who, shape);
    }
    return x;
  }
  static Self full(const Shape& shape, T value, const char* who = "full") {
    Self x = empty(shape, who);
    std::fill_n(x.first(), x.numel(), value);
    return x;
  }

  bool defined() const { return static_cast<bool>(storage_); }
  /// Whether this array is not defined because its elements were moved to another array. A moved-from array keeps its
  /// shape, so that an op does not mistake it for an input that was not given.
  bool moved_from() const { return !defined() && (layout_.rank() > 0 || layout_.numel() > 0); }
  const Layout& layout() const& {
    require();
    return layout_;
  }
  Layout layout() && { return std::as_const(*this).layout(); }
  const Shape& shape() const& { return layout().shape(); }
  Shape shape() && { return std::as_const(*this).shape(); }
  Index size(Integer axis) const { return shape()[axis]; }
  int rank() const { return layout().rank(); }
  int dim() const { return rank(); }  ///< rank() under PyTorch's name
  Index numel() const { return layout().numel(); }
  /// Distance in elements between neighbours along an axis; 0 where an axis repeats (expand).
  Index stride(Integer axis) const { return layout().stride(axis); }
  const Strides& strides() const& { return layout().strides(); }
  Strides strides() && { return std::as_const(*this).strides(); }
  /// Whether the elements are in row-major order without gaps.
  bool is_contiguous() const { return layout().is_contiguous(); }
  /// Whether both arrays share one storage, as views and copies do.
  bool shares_storage(const Self& other) const { return storage_ == other.storage_; }
  /// Whether no other handle shares the storage.
  bool owns_storage() const { return storage_.unique(); }

  /// Throws an error if this array is not defined. The message begins with `who` when no op is running.
  void require(const char* who = "array") const {
    if (!defined()) [[unlikely]]
      detail::fail_with(who, static_cast<const Self&>(*this).missing());
  }
  /// The error message for an array that is not defined.
  const char* missing() const { return Self::not_defined; }
  /// A pointer to the first element. Element [i, j, ...] is data()[i * stride(0) + j * stride(1) + ...].
  const T* data() const& {
    require();
    return first();
  }
  __attribute__((unavailable(
      "the elements die with the temporary: give the array a name, const Array a = x.contiguous(), then a.data()")))
  const T*
  data() &&;
  /// A pointer to the first element, for writing. Afterwards this array is contiguous and the only one that holds its
  /// elements. If necessary, the elements are copied first.
  T* mutate() & {
    require();
    if (!storage_.unique() || !is_contiguous()) *this = copy_of(*this);
    return first();
  }
  __attribute__((unavailable("what is written dies with the temporary: give the array a name first"))) T* mutate() &&;
  /// The same elements in row-major order. Returns this itself, without a copy, if it is contiguous already.
  Self contiguous() const { return is_contiguous() ? static_cast<const Self&>(*this) : copy_of(*this); }
  /// The elements in place, without a copy. Errors: they are not contiguous.
  std::span<const T> values() const& {
    require();
    check_in("values", is_contiguous(), "the elements of shape ", shape(), " are not contiguous (transposed",
             " or sliced): use contiguous() first");
    return {data(), static_cast<std::size_t>(numel())};
  }
  __attribute__((unavailable("the elements die with the temporary: give it a name, or write to_vector()")))
  std::span<const T>
  values() &&;
  /// All elements in row-major order.
  std::vector<T> to_vector() const {
    const Self x = contiguous();
    return std::vector<T>(x.data(), x.data() + x.numel());
  }
  /// The element at `index`, one position per axis. Negative positions count from the end. Errors: out of range.
  T at(std::span<const Index> index) const { return data()[layout_.offset_of(index)]; }
  T at(std::initializer_list<Integer> index) const { return at(detail::plain(index)); }
  /// The element of an array with exactly one element, as PyTorch's item(). Errors: no element or several.
  T item() const {
    check_in("item", numel() == 1, "needs exactly one element, but the shape is ", shape());
    return *data();
  }

  // Views. Errors: axes and positions out of range, products of extents that do not match.

  /// The same elements in row-major order under another shape. One extent may be -1 and is inferred. Shares storage if
  /// the strides allow it, copies otherwise.
  Self reshape(std::span<const Index> extents) const {
    const Shape to = detail::resolve("reshape", shape(), extents);
    if (const auto seen = layout_.try_view(to)) return seen_as(*seen);
    return copy_of(*this).seen_as(Layout(to));
  }
  Self reshape(const Shape& to) const {
    if (to.numel() != numel() || !is_contiguous()) return reshape(std::span<const Index>(to));
    return seen_as(*layout_.try_view(to));
  }
  Self reshape(std::initializer_list<Integer> extents) const { return reshape(detail::plain(extents)); }
  /// Like reshape, but never copies. Errors: the strides do not allow a view; the message suggests reshape.
  Self view(std::span<const Index> extents) const {
    const Shape to = detail::resolve("view", shape(), extents);
    const auto seen = layout_.try_view(to);
    check_in("view", seen.has_value(), "the elements of shape ", shape(), " cannot be viewed as ", to,
             " (transposed or sliced): use reshape");
    return seen_as(*seen);
  }
  Self view(std::initializer_list<Integer> extents) const { return view(detail::plain(extents)); }
  Self transpose(Integer axis0, Integer axis1) const { return seen_as(layout().transpose(axis0, axis1)); }
  /// Axis i of the result is axis axes[i] of this. Errors: axes that do not list every axis exactly once.
  Self permute(std::span<const Index> axes) const { return seen_as(layout().permute(axes)); }
  Self permute(std::initializer_list<Integer> axes) const { return permute(detail::plain(axes)); }
  /// Selects the positions start, start + step, ... below `end` along an axis. As in Python, a negative `start` or
  /// `end` counts from the end of the axis, and both are clamped to the extent. `step` must be at least 1.
  Self slice(Integer axis, Integer start, Integer end, Integer step = 1) const {
    return seen_as(layout().slice(axis, start, end, step));
  }
  /// Selects one position and removes the axis. Errors: position outside [-extent, extent).
  Self select(Integer axis, Integer position) const { return seen_as(layout().select(axis, position)); }
  /// Broadcasts to `shape` without a copy. Axes of extent 1 and new leading axes are repeated with stride 0.
  Self expand(const Shape& shape) const { return seen_as(layout().expand(shape)); }
  /// Removes an axis of extent 1. An axis of any other extent is kept, as in PyTorch.
  Self squeeze(Integer axis) const { return seen_as(layout().squeeze(axis)); }
  /// Inserts an axis of extent 1, which becomes axis `axis` of the result. `axis` is in [-rank - 1, rank].
  Self unsqueeze(Integer axis) const { return seen_as(layout().unsqueeze(axis)); }

 protected:
  Strided() = default;
  Strided(const Shape& shape, std::span<const T> values) {
    check_in("array", static_cast<Index>(values.size()) == shape.numel(), "shape ", shape, " needs ", shape.numel(),
             " values, not ", values.size());
    *this = empty(shape);
    std::copy(values.begin(), values.end(), first());
  }

 private:
  T* first() const { return static_cast<T*>(storage_.data()) + layout_.offset(); }
  Self seen_as(const Layout& layout) const {
    Self x;
    x.storage_ = storage_;
    x.layout_ = layout;
    return x;
  }

  Storage storage_;
  Layout layout_;
};

/// Array, IntArray or Mask.
template <class A>
concept ArrayLike = std::derived_from<A, Strided<A, typename A::Element>>;

}  // namespace mote
