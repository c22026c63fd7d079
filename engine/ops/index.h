// Selection by index: index(), PyTorch's square brackets; gather, with an index for every element along an axis;
// take_rows, for whole rows; index_add.
#pragma once

#include <initializer_list>
#include <optional>
#include <variant>

#include "engine/array/int_array.h"
#include "engine/array/mask.h"
#include "engine/autograd/op.h"
#include "engine/ops/along.h"
#include "engine/ops/embedding.h"
#include "engine/ops/view.h"

namespace mote {

/// start : stop : step of PyTorch's square brackets; Slice() is the whole axis. start and stop count from the end when
/// negative; step is at least 1.
struct Slice {
  Slice() = default;
  Slice(Integer from, std::optional<Index> to = {}, Integer by = 1) : start(from), stop(to), step(by) {}
  Index start = 0;
  std::optional<Index> stop = {};
  Index step = 1;
};
/// None of PyTorch's square brackets: a new axis of extent 1.
struct NewAxis {};
inline constexpr NewAxis None{};
/// "..." of PyTorch's square brackets: all axes that the other items do not name.
struct Ellipsis {};

/// One item between PyTorch's square brackets: a position, a Slice, positions (an IntArray, such as ints({0, 2})), a
/// Mask, None, or "...".
class IndexItem : public std::variant<Index, Slice, IntArray, Mask, NewAxis, Ellipsis> {
 public:
  template <detail::Whole T>
  IndexItem(T position) : variant(Index(Integer(position))) {}
  IndexItem(const Slice& slice) : variant(slice) {}
  IndexItem(const IntArray& positions) : variant(positions) {}
  IndexItem(const Mask& mask) : variant(mask) {}
  IndexItem(NewAxis axis) : variant(axis) {}
  /// Errors: another text than "...".
  IndexItem(const char* dots) : variant(Ellipsis()) {
    check_in("index", std::string_view(dots) == "...", "an index may be \"...\", not \"", dots, "\"");
  }
};

/// x[...] of PyTorch, with the names of its C++. x[:, -1, 2:5] is index(x, {Slice(), -1, Slice(2, 5)}). x[range(n), y]
/// is index(x, {int_arange(n), y}). x[x > 0] is index(x, x > 0).
///
/// A position removes its axis, a Slice keeps it. Lists of positions are broadcast together, and so are Masks, as the
/// positions where they are true. The result has one axis for each axis of theirs. These axes stand where the lists
/// stand, if those are side by side. Else they come first. Axes that no item names are kept whole. Gradients of an
/// element that is taken twice accumulate. Errors: more items than axes, a position out of range, lists that do not
/// broadcast, a mask of another shape.
Tensor index(const Tensor& x, std::initializer_list<IndexItem> items);
IntArray index(const IntArray& x, std::initializer_list<IndexItem> items);
/// x[ids], x[3]: one item needs no braces.
inline Tensor index(const Tensor& x, const IndexItem& item) { return index(x, {item}); }
inline IntArray index(const IntArray& x, const IndexItem& item) { return index(x, {item}); }

namespace detail {
/// Checks the index of gather, which must be contiguous, and returns where it selects.
inline Along gathering(const Shape& x, Integer axis, const IntArray& index) {
  const int a = x.axis(axis);
  check_in("gather", index.rank() == x.rank(), "index ", index.shape(), " must have the rank of x ", x);
  for (int i = 0; i < x.rank(); ++i)
    check_in("gather", i == a || index.shape()[i] <= x[i], "index ", index.shape(), " is larger than x ", x,
             " along axis ", i);
  for (const Index i : index.values())
    check_in("gather", i >= 0 && i < x[a], "index ", i, " is out of range for axis ", axis, " of ", x);
  return Along(x, a, index.shape());
}
}  // namespace detail

/// y[..., i, ...] = x[..., index[..., i, ...], ...] along `axis`. index has x's rank and nowhere a larger extent except
/// along `axis`; the result has index's shape. Gradients of duplicated indices accumulate in row-major order.
/// Errors: another rank, an index outside [0, extent).
inline Tensor gather(const Tensor& x, Integer axis, IntArray index) {
  Op op("gather", x);
  index = index.contiguous();
  const detail::Along along = detail::gathering(x.shape(), axis, index);
  return op.record(along.take(x.array(), index), save(x.shape(), index, along),
                   [](const Array& dy, Grads& dx, const Shape& shape, const IntArray& index,
                      const detail::Along& along) { dx.add(0, along.put(Array::zeros(shape), index, dy)); });
}
inline IntArray gather(const IntArray& x, Integer axis, IntArray index) {
  x.require("gather");
  index = index.contiguous();
  return detail::gathering(x.shape(), axis, index).take(x, index);
}

/// x, and at position index[i] of an axis what source has at position i is added: PyTorch's index_add. x [..., N, ...],
/// index [K], source [..., K, ...] -> [..., N, ...]. Positions that stand twice add up in order. Errors: other shapes,
/// a position outside [0, N).
inline Tensor index_add(const Tensor& x, Integer axis, const IntArray& index, const Tensor& source) {
  Op op("index_add", x, source);
  const int a = x.shape().axis(axis);
  check(index.rank() == 1 && source.shape() == x.shape().with(a, index.numel()), "index ", index.shape(),
        " and source ", source.shape(), " do not fit axis ", axis, " of x ", x.shape());
  for (const Index i : index.to_vector())
    check(i >= 0 && i < x.shape()[a], "index ", i, " is out of range for axis ", axis, " of ", x.shape());
  IntArray every = index;
  for (int behind = a + 1; behind < x.dim(); ++behind) every = every.unsqueeze(-1);
  every = every.expand(source.shape()).contiguous();
  const detail::Along along(x.shape(), a, source.shape());
  return op.record(along.put(x.array(), every, source.array()), save(every, along),
                   [](const Array& dy, Grads& dx, const IntArray& every, const detail::Along& along) {
                     if (dx.wants(0)) dx.add(0, dy);
                     if (dx.wants(1)) dx.add(1, along.take(dy, every));
                   });
}

namespace detail {
inline void check_rows(const Shape& shape, const std::vector<Index>& rows) {
  check_in("take_rows", shape.rank() > 0, "a scalar has no rows");
  for (const Index row : rows)
    check_in("take_rows", row >= 0 && row < shape[0], "row ", row, " is out of range for ", shape);
}
}  // namespace detail

/// x[rows] in PyTorch: [N, ...] -> [rows, ...]. Gradients of a duplicated row accumulate.
/// Errors: rank 0, a row outside [0, N).
inline Tensor take_rows(const Tensor& x, const std::vector<Index>& rows) {
  x.array().require("take_rows");
  detail::check_rows(x.shape(), rows);
  const Index count = static_cast<Index>(rows.size()), width = x.shape().without(0).numel();
  return reshape(embedding(reshape(x, {x.size(0), width}), IntArray({count}, rows)), x.shape().with(0, count));
}
inline IntArray take_rows(const IntArray& x, const std::vector<Index>& rows) {
  x.require("take_rows");
  detail::check_rows(x.shape(), rows);
  const Index width = x.shape().without(0).numel();
  IntArray y(x.shape().with(0, static_cast<Index>(rows.size())));
  const IntArray in = x.contiguous();
  Index* to = y.mutate();
  for (const Index row : rows) to = std::copy_n(in.data() + row * width, width, to);
  return y;
}

template <std::same_as<IntArray> I>
__attribute__((unavailable("of an IntArray write index(x, rows)"))) Tensor take_rows(const Tensor&, const I&);
template <std::same_as<IntArray> I>
__attribute__((unavailable("of an IntArray write index(x, rows)"))) IntArray take_rows(const IntArray&, const I&);

}  // namespace mote
