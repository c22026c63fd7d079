// Shape (up to eight extents, always valid), axis arithmetic and the broadcasting rule.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <iosfwd>
#include <span>
#include <string>
#include <utility>

#include "engine/base/argument.h"
#include "engine/base/check.h"
#include "engine/base/real.h"

namespace mote {

/// One number for each axis. Items beyond the rank stay uninitialised, because writing them would take a tenth of a
/// small op's time. They are copied with the other items but never used. Copying them is formally undefined behaviour,
/// but no memory sanitizer reports a copy.
struct PerAxis {
  static constexpr int max_rank = 8;
  Index items[max_rank];

  Index operator[](int axis) const { return items[axis]; }
  Index& operator[](int axis) { return items[axis]; }
};

/// The extents of an array, slowest axis first: Shape{2, 3} is 2 rows of 3. Rank 0 (`Shape{}`) is a scalar.
/// A Shape that exists is valid: no extent is negative, the rank is at most 8, and the number of bytes fits 64 bits.
class Shape {
 public:
  static constexpr int max_rank = PerAxis::max_rank;
  static constexpr Index max_numel = Index(1) << 59;  // at 8 bytes per element the bytes fit 64 bits with room to spare

  Shape() {}  // not `= default`, because Shape{} would then clear the extents that PerAxis leaves unset
  Shape(std::initializer_list<Integer> extents) : Shape(detail::plain(extents)) {}
  Shape(const PerAxis& extents, int rank)
      : Shape(std::span<const Index>(extents.items, static_cast<std::size_t>(rank))) {}
  explicit Shape(std::span<const Index> extents) {
    check_in("shape", extents.size() <= max_rank, "rank ", extents.size(), " is above the limit of ", max_rank);
    Index product = 1;  // an extent of 0 counts as 1, because the strides of [0, huge, huge] could overflow
    for (const Index extent : extents) {
      check_in("shape", extent >= 0, "extent ", extent, " must be at least 0");
      check_in("shape", extent <= max_numel && product <= max_numel / std::max<Index>(extent, 1),
               "too many elements in ", extents);
      product *= std::max<Index>(extent, 1);
      extents_.items[rank_++] = extent;
    }
  }

  int rank() const { return static_cast<int>(rank_); }
  Index numel() const {
    Index n = 1;
    for (const Index extent : *this) n *= extent;
    return n;
  }

  /// Converts `axis`, which may be negative, to the same axis counted from 0. Axis -1 is the last one, as everywhere in
  /// mote. Errors: an axis outside [-rank, rank).
  int axis(Integer axis) const {
    check_in("shape", axis >= -rank_ && axis < rank_, "axis ", axis, " is out of range for ", *this);
    return static_cast<int>(axis < 0 ? axis + rank_ : Index(axis));
  }
  Index operator[](Integer a) const { return extents_[axis(a)]; }

  const Index* begin() const& { return extents_.items; }
  const Index* end() const& { return extents_.items + rank_; }
  const Index* data() const& { return begin(); }  // std::span of older standard libraries needs data() and size()
  // A temporary has no begin(), end() and data(), because the extents die with the temporary.
  const Index* begin() && = delete;
  const Index* end() && = delete;
  const Index* data() && = delete;
  std::size_t size() const { return static_cast<std::size_t>(rank_); }

  /// with() returns a copy of the shape with another extent for one axis. swapped() returns a copy with two axes
  /// swapped, and without() a copy without one axis. insert() returns a copy with a new axis, which becomes axis `axis`
  /// of the copy. For insert(), `axis` is in [-rank-1, rank].
  Shape with(Integer axis_, Integer extent) const {
    PerAxis e = extents_;
    e[axis(axis_)] = extent;
    return Shape(e, rank());
  }
  Shape swapped(Integer axis0, Integer axis1) const {
    Shape s = *this;
    std::swap(s.extents_[axis(axis0)], s.extents_[axis(axis1)]);
    return s;
  }
  Shape without(Integer axis_) const {
    const int gone = axis(axis_);
    Shape s;
    for (int i = 0; i < rank(); ++i)
      if (i != gone) s.extents_.items[s.rank_++] = extents_[i];
    return s;
  }
  Shape insert(Integer axis_, Integer extent) const {
    check_in("shape", axis_ >= -rank_ - 1 && axis_ <= rank_, "axis ", axis_, " is out of range for inserting into ",
             *this);
    check_in("shape", rank_ < max_rank, "rank ", rank_ + 1, " is above the limit of ", max_rank);
    PerAxis e{};
    const Index at = axis_ < 0 ? axis_ + rank_ + 1 : Index(axis_);
    for (int i = 0, j = 0; i <= rank(); ++i) e[i] = i == at ? Index(extent) : extents_[j++];
    return Shape(e, rank() + 1);
  }

  friend bool operator==(const Shape& a, const Shape& b) {
    bool same = a.rank_ == b.rank_;  // a loop, because std::equal would call the C library for so few extents
    for (int i = 0; same && i < a.rank_; ++i) same = a.extents_[i] == b.extents_[i];
    return same;
  }

 private:
  PerAxis extents_;
  Index rank_ = 0;  // as wide as an extent, so that a shape is copied in whole words
};

std::ostream& operator<<(std::ostream& out, const Shape& shape);

/// Returns the shape to which a and b broadcast, which is the shape of an element-wise op's result. a and b are aligned
/// at their last axes, and an axis of extent 1 is repeated as often as needed. Errors: two extents that differ and are
/// not 1; the message names the axis.
Shape broadcast(const Shape& a, const Shape& b);

namespace detail {
/// Returns the shape to which reshape or view with `extents` takes an array of shape `from`. A -1 in `extents` is
/// replaced by the extent that keeps the number of elements. Errors: an extent below -1; more than one -1; another
/// number of elements; a -1 that is ambiguous because the other extents make 0 elements.
Shape resolve(const char* name, const Shape& from, std::span<const Index> extents);
}  // namespace detail

}  // namespace mote
