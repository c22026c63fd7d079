// Selection by index. index() is PyTorch's square brackets, and index_put() is an assignment to them. gather takes an
// index for every element of the result, take_rows takes whole rows, and index_add adds to selected positions.
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

/// A range of positions along an axis, written start:stop:step in PyTorch's square brackets. Slice() is the whole
/// axis. Negative start and stop count from the end. step is at least 1.
struct Slice {
  Slice() = default;
  Slice(Integer from, std::optional<Index> to = {}, Integer by = 1) : start(from), stop(to), step(by) {}
  Index start = 0;
  std::optional<Index> stop = {};
  Index step = 1;
};
/// A new axis of extent 1, written None as in PyTorch's square brackets.
struct NewAxis {};
inline constexpr NewAxis None{};
/// All axes that the other items do not index, written "..." as in PyTorch's square brackets.
struct Ellipsis {};

/// One item between PyTorch's square brackets: a position, a Slice, positions (an IntArray, such as ints({0, 2})), a
/// Mask, None, or "...".
class IndexItem : public std::variant<Index, Slice, IntArray, Mask, NewAxis, Ellipsis> {
 public:
  template <detail::Whole T>
  IndexItem(T position) : variant(Index(Integer(position))) {}
  IndexItem(const Slice& slice) : variant(slice) {}
  /// A list of positions. An IntArray of rank 0 is one position, as in PyTorch.
  IndexItem(const IntArray& positions) : variant(positions) {
    if (positions.defined() && positions.rank() == 0) *this = IndexItem(positions.item());
  }
  IndexItem(const Mask& mask) : variant(mask) {}
  IndexItem(NewAxis axis) : variant(axis) {}
  /// The item "...". Errors: any other text.
  IndexItem(const char* dots) : variant(Ellipsis()) {
    check_in("index", std::string_view(dots) == "...", "the only text in an index is '...', not '", dots, "'");
  }
};

/// PyTorch's x[...], with the names of PyTorch's C++ API. x[:, -1, 2:5] is index(x, {Slice(), -1, Slice(2, 5)}).
/// x[range(n), y] is index(x, {int_arange(n), y}). x[x > 0] is index(x, x > 0).
///
/// A position removes its axis, and a Slice keeps its axis. Lists of positions are broadcast to a common shape. A Mask
/// counts as one list for each of its axes, and the lists hold the positions where the Mask is true. If the lists' axes
/// are adjacent, the axes of the common shape replace the lists' axes. Otherwise the axes of the common shape come
/// first in the result. Axes that no item indexes are kept whole. If an element is taken twice, its gradients add up.
/// Errors: more items than axes, a position out of range, lists that do not broadcast, a mask of another shape.
Tensor index(const Tensor& x, std::initializer_list<IndexItem> items);
IntArray index(const IntArray& x, std::initializer_list<IndexItem> items);
/// index() with a single item, which needs no braces: x[3] is index(x, 3).
inline Tensor index(const Tensor& x, const IndexItem& item) { return index(x, {item}); }
inline IntArray index(const IntArray& x, const IndexItem& item) { return index(x, {item}); }

/// x with `values` in place of the elements that index(x, items) selects. pe[:, 0::2] = s is pe = index_put(pe,
/// {Slice(), Slice(0, {}, 2)}, s). The values broadcast to the shape of index(x, items), and may have more leading axes
/// of extent 1. If an element is selected several times, it gets the last of its values, and only this value gets a
/// gradient. Errors: those of index(), values that do not broadcast.
Tensor index_put(const Tensor& x, std::initializer_list<IndexItem> items, const Tensor& values);
IntArray index_put(const IntArray& x, std::initializer_list<IndexItem> items, const IntArray& values);
inline IntArray index_put(const IntArray& x, std::initializer_list<IndexItem> items, Integer value) {
  return index_put(x, items, IntArray({}, value));
}
/// index_put() with a single item, which needs no braces: x = index_put(x, 3, values).
inline Tensor index_put(const Tensor& x, const IndexItem& item, const Tensor& values) {
  return index_put(x, {item}, values);
}
inline IntArray index_put(const IntArray& x, const IndexItem& item, const IntArray& values) {
  return index_put(x, {item}, values);
}
inline IntArray index_put(const IntArray& x, const IndexItem& item, Integer value) {
  return index_put(x, {item}, value);
}

namespace detail {
/// Checks the index of gather(), which must be contiguous. Returns the Along (along.h) that finds the elements of x.
inline Along gathering(const Shape& x, Integer axis, const IntArray& index) {
  const int a = x.axis(axis);
  check_in("gather", index.rank() == x.rank(), "index ", index.shape(), " must have the rank of x ", x);
  for (int i = 0; i < x.rank(); ++i)
    check_in("gather", i == a || index.shape()[i] <= x[i], "index ", index.shape(), " is larger than x ", x,
             " along axis ", i, ": it may be larger only along axis ", a, ", the gathered one");
  for (const Index i : index.values())
    check_in("gather", i >= 0 && i < x[a], "index ", i, " is out of range for axis ", axis, " of ", x);
  return Along(x, a, index.shape());
}
}  // namespace detail

/// y[..., i, ...] = x[..., index[..., i, ...], ...] along `axis`. index has the rank of x, and only along `axis` may
/// its extent be larger than that of x. The result has the shape of index. If an element is taken twice, its
/// gradients add up in row-major order.
/// Errors: an index of another rank or too large an extent, a position outside [0, extent).
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

/// x with position i of `source` added at position index[i] of an axis, as PyTorch's index_add. x [..., N, ...],
/// index [K], source [..., K, ...] -> [..., N, ...]. If index names a position several times, its additions are made
/// in order. Errors: other shapes, a position outside [0, N).
inline Tensor index_add(const Tensor& x, Integer axis, const IntArray& index, const Tensor& source) {
  Op op("index_add", x, source);
  const int a = x.shape().axis(axis);
  check(index.rank() == 1, "index ", index.shape(), " must have one axis");
  const Shape needed = x.shape().with(a, index.numel());
  check(source.shape() == needed, "source ", source.shape(), " must be ", needed, ": x ", x.shape(),
        " with a position along axis ", axis, " for each of the index ", index.shape());
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

/// The rows of x whose numbers are in `rows`, written x[rows] in PyTorch: x [N, ...] -> [rows.size(), ...]. If a row
/// is taken twice, its gradients add up. Errors: rank 0, a row outside [0, N).
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
