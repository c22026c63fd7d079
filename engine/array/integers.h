// Arithmetic of IntArrays and counts of Masks. Results are integers. A result that 64 bits cannot hold is an error.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "engine/array/axes.h"
#include "engine/array/int_array.h"

namespace mote {

namespace detail {
/// Applies f(a, b, &y) element by element with broadcasting. f computes y, and returns true if y does not fit into 64
/// bits.
template <class F>
IntArray exact(const char* op, const IntArray& a, const IntArray& b, const F& f) {
  a.require(op);
  b.require(op);
  return combine<IntArray>(a, b, [op, f](Index x, Index z) {
    Index y = 0;
    check_in(op, !f(x, z, &y), "the result for ", x, " and ", z, " does not fit into 64 bits");
    return y;
  });
}
inline IntArray added(const char* op, const IntArray& a, const IntArray& b) {
  return exact(op, a, b, [](Index x, Index z, Index* y) { return __builtin_add_overflow(x, z, y); });
}
inline IntArray subtracted(const char* op, const IntArray& a, const IntArray& b) {
  return exact(op, a, b, [](Index x, Index z, Index* y) { return __builtin_sub_overflow(x, z, y); });
}
inline IntArray multiplied(const char* op, const IntArray& a, const IntArray& b) {
  return exact(op, a, b, [](Index x, Index z, Index* y) { return __builtin_mul_overflow(x, z, y); });
}
/// The quotient, rounded down.
inline IntArray divided(const char* op, const IntArray& a, const IntArray& b) {
  return exact(op, a, b, [op](Index x, Index z, Index* y) {
    check_in(op, z != 0, x, " cannot be divided by 0");
    if (z == -1) return __builtin_sub_overflow(Index(0), x, y);
    *y = x / z - (x % z != 0 && (x < 0) != (z < 0));
    return false;
  });
}
/// The remainder of the division that rounds down. It has the sign of b.
inline IntArray left_over(const char* op, const IntArray& a, const IntArray& b) {
  return exact(op, a, b, [op](Index x, Index z, Index* y) {
    check_in(op, z != 0, x, " cannot be divided by 0");
    const Index rest = z == -1 ? 0 : x % z;
    *y = rest != 0 && (rest < 0) != (z < 0) ? rest + z : rest;
    return false;
  });
}
}  // namespace detail

// Integer arithmetic, element by element with broadcasting. Errors: shapes that do not broadcast, a result beyond 64
// bits, division by 0.
inline IntArray operator+(const IntArray& a, const IntArray& b) { return detail::added("add", a, b); }
inline IntArray operator+(const IntArray& a, Integer b) { return detail::added("add", a, IntArray({}, b)); }
inline IntArray operator+(Integer a, const IntArray& b) { return detail::added("add", IntArray({}, a), b); }
inline IntArray operator-(const IntArray& a, const IntArray& b) { return detail::subtracted("sub", a, b); }
inline IntArray operator-(const IntArray& a, Integer b) { return detail::subtracted("sub", a, IntArray({}, b)); }
inline IntArray operator-(Integer a, const IntArray& b) { return detail::subtracted("sub", IntArray({}, a), b); }
inline IntArray operator-(const IntArray& a) { return detail::subtracted("neg", IntArray({}, 0), a); }
inline IntArray operator*(const IntArray& a, const IntArray& b) { return detail::multiplied("mul", a, b); }
inline IntArray operator*(const IntArray& a, Integer b) { return detail::multiplied("mul", a, IntArray({}, b)); }
inline IntArray operator*(Integer a, const IntArray& b) { return detail::multiplied("mul", IntArray({}, a), b); }
/// Python's %, whose result has the sign of b.
inline IntArray operator%(const IntArray& a, const IntArray& b) { return detail::left_over("remainder", a, b); }
inline IntArray operator%(const IntArray& a, Integer b) { return detail::left_over("remainder", a, IntArray({}, b)); }
/// Python's //, rounded down.
inline IntArray floor_divide(const IntArray& a, const IntArray& b) { return detail::divided("floor_divide", a, b); }
inline IntArray floor_divide(const IntArray& a, Integer b) {
  return detail::divided("floor_divide", a, IntArray({}, b));
}

template <std::floating_point F>
__attribute__((unavailable("of integers and a fraction write tensor(ids) + 0.5"))) IntArray operator+(const IntArray&,
                                                                                                      F);
template <std::floating_point F>
__attribute__((unavailable("of integers and a fraction write tensor(ids) * 0.5"))) IntArray operator*(const IntArray&,
                                                                                                      F);

/// Whether one of two types is IntArray.
template <class A, class B>
concept EitherIsIntArray = std::same_as<A, IntArray> || std::same_as<B, IntArray>;
template <class A, class B>
requires EitherIsIntArray<A, B>
__attribute__((unavailable(
    "for fractions make the integers floats by tensor(ids), for integers write floor_divide(a, b)"))) IntArray
operator/(const A& a, const B& b);

/// all() tells whether every element is true, any() whether at least one is.
inline bool all(const Mask& m) {
  const std::vector<std::uint8_t> values = m.to_vector();
  return std::all_of(values.begin(), values.end(), [](auto x) { return x != 0; });
}
inline bool any(const Mask& m) {
  const std::vector<std::uint8_t> values = m.to_vector();
  return std::any_of(values.begin(), values.end(), [](auto x) { return x != 0; });
}

namespace detail {
/// Reduces x over `axes`. Each element y of the result begins at `start` and becomes f(y, value) for each value of x
/// that is reduced into y, in row-major order.
template <class A, class F>
IntArray reduced(const A& x, const Axes& axes, bool keepdim, Index start, const F& f) {
  IntArray y(reduced_shape(x.shape(), axes, true), start);
  Index* const out = y.mutate();
  const Layout to = y.layout().expand(x.shape());
  const A in = x.contiguous();
  for (Index i = 0; i < in.numel(); ++i) {
    Index& total = out[to.offset_of_part(i, 0)];
    total = f(total, static_cast<Index>(in.data()[i]));
  }
  return y.reshape(reduced_shape(x.shape(), axes, keepdim));
}
}  // namespace detail

/// The sum over `axes`, or over all axes if none are given. Errors: the sum of the first elements, up to any element,
/// does not fit into 64 bits.
inline IntArray sum(const IntArray& x, const Axes& axes = {}, Flag keepdim = false) {
  x.require("sum");
  return detail::reduced(x, axes, keepdim, 0, [](Index total, Index value) {
    check_in("sum", !__builtin_add_overflow(total, value, &total), "the sum does not fit into 64 bits");
    return total;
  });
}
/// Counts the true elements over `axes`. sum(x > 0).item() is the number of positive elements of x.
inline IntArray sum(const Mask& m, const Axes& axes = {}, Flag keepdim = false) {
  m.require("sum");
  return detail::reduced(m, axes, keepdim, 0, [](Index total, Index value) { return total + value; });
}

namespace detail {
template <class F>
IntArray int_extreme(const char* op, const IntArray& x, const Axes& axes, bool keepdim, Index start, const F& f) {
  x.require(op);
  const Shape shape = reduced_shape(x.shape(), axes, keepdim);
  check_in(op, x.numel() > 0 || shape.numel() == 0, "cannot reduce an empty axis of shape ", x.shape());
  return reduced(x, axes, keepdim, start, f);
}
}  // namespace detail

/// max() is the largest element over `axes`, min() the smallest. Errors: no elements to reduce.
inline IntArray max(const IntArray& x, const Axes& axes = {}, Flag keepdim = false) {
  constexpr Index least = std::numeric_limits<Index>::min();
  return detail::int_extreme("max", x, axes, keepdim, least, [](Index a, Index b) { return std::max(a, b); });
}
inline IntArray min(const IntArray& x, const Axes& axes = {}, Flag keepdim = false) {
  constexpr Index most = std::numeric_limits<Index>::max();
  return detail::int_extreme("min", x, axes, keepdim, most, [](Index a, Index b) { return std::min(a, b); });
}

template <class A>
requires(std::same_as<A, IntArray> || std::same_as<A, Mask>)
    __attribute__((unavailable("a mean has a fraction: write mean(tensor(x))"))) IntArray mean(const A& x);

/// x limited to [lowest, highest]. Errors: lowest above highest.
inline IntArray clamp(const IntArray& x, Integer lowest, Integer highest = std::numeric_limits<Index>::max()) {
  x.require("clamp");
  const Index low = lowest, high = highest;
  check_in("clamp", low <= high, "the lower limit ", low, " must be at most the upper limit ", high);
  return combine<IntArray>(x, [low, high](Index at) { return std::clamp(at, low, high); });
}

/// Takes the element of a where the mask is true, and the element of b elsewhere. All three broadcast. Errors: shapes
/// that do not broadcast.
inline IntArray where(const Mask& mask, const IntArray& a, const IntArray& b) {
  const Shape shape = broadcast(broadcast(a.shape(), b.shape()), mask.shape());
  IntArray y = copy_of(b.expand(shape));
  Index* const out = y.mutate();
  for_pairs(shape, mask, a, [out](Index i, auto m, Index value) { out[i] = m != 0 ? value : out[i]; });
  return y;
}
inline IntArray where(const Mask& mask, const IntArray& a, Integer b) { return where(mask, a, IntArray({}, b)); }
inline IntArray where(const Mask& mask, Integer a, const IntArray& b) { return where(mask, IntArray({}, a), b); }

/// The integers start, start + step, ... up to but not including `end`, as PyTorch's arange. Errors: a step that is 0
/// or leads away from `end`, a distance from `start` to `end` that does not fit into 64 bits.
inline IntArray int_arange(Integer start, Integer end, Integer step = 1) {
  const Index first = start, last = end, by = step;
  Index distance = 0;
  check_in("int_arange", by != 0 && (first == last || (first < last) == (by > 0)), "step ", by, " never leads from ",
           first, " to ", last);
  const bool fits = !__builtin_sub_overflow(last, first, &distance) && distance != std::numeric_limits<Index>::min();
  check_in("int_arange", fits, "too many steps from ", first, " to ", last);
  IntArray y({distance / by + (distance % by != 0)});
  Index* const out = y.mutate();
  for (Index i = 0; i < y.numel(); ++i) out[i] = first + i * by;
  return y;
}
/// The integers 0, 1, ... below `end`.
inline IntArray int_arange(Integer end) { return int_arange(0, end); }

namespace detail {
/// How many of the numbers 0, 1, ... there are up to `largest`.
inline Index count_up_to(const char* op, Index largest) {
  check_in(op, largest < Shape::max_numel, "id ", largest, " is too large: the result would have an element for each ",
           "number up to it");
  return largest + 1;
}
}  // namespace detail

/// One-hot rows, with 1 at each id and 0 elsewhere: ids [...] -> [..., classes]. tensor(one_hot(ids)) converts them to
/// `real`. Without `classes`, the number of classes is the largest id plus 1. Errors: an id outside [0, classes); empty
/// ids without `classes`.
inline IntArray one_hot(const IntArray& ids, Integer classes = -1) {
  ids.require("one_hot");
  check_in("one_hot", classes > 0 || classes == -1, "classes ", classes,
           " must be at least 1, or -1 for the largest id plus 1");
  check_in("one_hot", classes > 0 || ids.numel() > 0, "ids ", ids.shape(),
           " are empty: pass the number of classes, which they do not tell");
  const Index count = classes == -1 ? detail::count_up_to("one_hot", max(ids).item()) : Index(classes);
  IntArray y(ids.shape().insert(-1, std::max<Index>(count, 1)));
  Index* out = y.mutate();
  for (const Index id : ids.to_vector()) {
    check_in("one_hot", id >= 0, "id ", id, " must be at least 0");
    check_in("one_hot", id < count, "id ", id, " is out of range for ", count, " classes");
    out[id] = 1;
    out += count;
  }
  return y;
}

/// Counts how often each of the numbers 0, 1, ... occurs in `ids`. The result has a count for every number up to the
/// largest id, and at least `minlength` counts. Errors: an id below 0, minlength below 0.
inline IntArray bincount(const IntArray& ids, Integer minlength = 0) {
  ids.require("bincount");
  check_in("bincount", minlength >= 0, "minlength ", minlength, " must be at least 0");
  IntArray y({std::max<Index>(minlength, ids.numel() > 0 ? detail::count_up_to("bincount", max(ids).item()) : 0)});
  Index* const out = y.mutate();
  for (const Index id : ids.to_vector()) {
    check_in("bincount", id >= 0, "id ", id, " must be at least 0");
    ++out[id];
  }
  return y;
}

/// The positions at which a mask is true, as an array [count, rank]. Each true element has a row, which holds the
/// element's position along every axis. The rows are in row-major order.
inline IntArray nonzero(const Mask& m) {
  m.require("nonzero");
  const std::vector<std::uint8_t> values = m.to_vector();
  const int rank = m.rank();
  IntArray y({std::count_if(values.begin(), values.end(), [](auto x) { return x != 0; }), rank});
  Index* out = y.mutate();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] == 0) continue;
    Index left = static_cast<Index>(i);
    for (int axis = rank - 1; axis >= 0; --axis) {
      out[axis] = left % m.shape()[axis];
      left /= m.shape()[axis];
    }
    out += rank;
  }
  return y;
}

}  // namespace mote
