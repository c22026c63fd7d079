// index() and index_put(). Positions, slices and new axes become views. Lists and masks become one position in x for
// every element of the result.
#include "engine/ops/index.h"

#include "engine/array/integers.h"
#include "engine/ops/compare.h"

namespace mote {
namespace {

constexpr int no_axis = -1;

/// The elements of x at the positions `at`, counted in row-major order. The gradients of duplicate positions add up.
Tensor elements_at(const Tensor& x, const IntArray& at) {
  Op op("index", x);
  const Array in = x.array().contiguous();
  Array y = Array::empty(at.shape());
  real* const out = y.mutate();
  for (Index i = 0; i < at.numel(); ++i) out[i] = in.data()[at.data()[i]];
  return op.record(y, save(x.shape(), at), [](const Array& dy, Grads& dx, const Shape& shape, const IntArray& at) {
    Array d = Array::zeros(shape);
    real* const to = d.mutate();
    const Array from = dy.contiguous();
    for (Index i = 0; i < at.numel(); ++i) to[at.data()[i]] += from.data()[i];
    dx.add(0, d);
  });
}
IntArray elements_at(const IntArray& x, const IntArray& at) {
  const IntArray in = x.contiguous();
  IntArray y(at.shape());
  Index* const out = y.mutate();
  for (Index i = 0; i < at.numel(); ++i) out[i] = in.data()[at.data()[i]];
  return y;
}

// The views of a Tensor are ops, and the views of an IntArray are member functions. These overloads give both the
// same names.
Tensor chosen(const Tensor& x, int axis, Index position) { return select(x, axis, position); }
IntArray chosen(const IntArray& x, int axis, Index position) { return x.select(axis, position); }
Tensor sliced(const Tensor& x, int axis, const Slice& s, Index stop) { return slice(x, axis, s.start, stop, s.step); }
IntArray sliced(const IntArray& x, int axis, const Slice& s, Index stop) {
  return x.slice(axis, s.start, stop, s.step);
}
Tensor with_axis(const Tensor& x, int axis) { return unsqueeze(x, axis); }
IntArray with_axis(const IntArray& x, int axis) { return x.unsqueeze(axis); }

/// The number of axes of x that an item indexes.
int axes_of(const IndexItem& item) {
  if (std::holds_alternative<NewAxis>(item) || std::holds_alternative<Ellipsis>(item)) return 0;
  const Mask* const mask = std::get_if<Mask>(&item);
  return mask ? mask->rank() : 1;
}

/// Positions along one axis of x, counted from 0.
struct AxisIndex {
  int axis;
  IntArray positions;
};

IntArray counted_from_0(const IntArray& positions, Index extent, int axis, const Shape& shape) {
  for (const Index i : positions.to_vector())
    check(i >= -extent && i < extent, "position ", i, " is out of range for axis ", axis, " of ", shape);
  return where(positions < 0, positions + extent, positions);
}

/// Returns the row-major position in x of every element of index()'s result. `shape` is the shape of x. The result
/// takes the lists' positions along the lists' axes, and all positions along the other axes. The lists are broadcast to
/// a common shape. If the lists' axes are adjacent, the axes of the common shape replace the lists' axes. Otherwise the
/// axes of the common shape come first.
IntArray positions_in(const Shape& shape, const std::vector<AxisIndex>& lists) {
  Shape drawn;
  for (const AxisIndex& list : lists) drawn = broadcast(drawn, list.positions.shape());
  const int first = lists.front().axis, count = static_cast<int>(lists.size());
  const bool together = lists.back().axis - first + 1 == count;
  const int before = together ? first : 0;

  const Layout elements(shape);
  std::vector<Index> extents;
  std::vector<int> axes;  // for each axis of the result: an axis of x, or no_axis if it comes from the lists
  const auto add = [&](int from, int to) {
    for (int axis = from; axis < to; ++axis) {
      bool listed = false;
      for (const AxisIndex& list : lists) listed = listed || list.axis == axis;
      if (listed) continue;
      axes.push_back(axis);
      extents.push_back(shape[axis]);
    }
  };
  add(0, before);
  for (const Index n : drawn) {
    axes.push_back(no_axis);
    extents.push_back(n);
  }
  add(before, shape.rank());

  const Shape result{std::span<const Index>(extents)};
  IntArray at(result);
  for (int i = 0; i < result.rank(); ++i) {
    const int axis = axes[static_cast<std::size_t>(i)];
    if (axis == no_axis) continue;
    IntArray along = int_arange(shape[axis]) * elements.stride(axis);
    for (int behind = i + 1; behind < result.rank(); ++behind) along = along.unsqueeze(-1);
    at = at + along;
  }
  for (const AxisIndex& list : lists) {
    IntArray along = list.positions * elements.stride(list.axis);
    along = along.expand(drawn);
    for (int behind = before + drawn.rank(); behind < result.rank(); ++behind) along = along.unsqueeze(-1);
    at = at + along;
  }
  return at;
}

template <class A>
A indexed(const A& x, std::span<const IndexItem> items) {
  int named = 0;
  bool rest = false;
  for (const IndexItem& item : items) {
    check(!(rest && std::holds_alternative<Ellipsis>(item)), "'...' may stand in an index only once");
    rest = rest || std::holds_alternative<Ellipsis>(item);
    named += axes_of(item);
  }
  const int rank = x.shape().rank();
  check(named <= rank, "the index needs rank ", named, " or more, but x ", x.shape(), " has rank ", rank);

  A y = x;
  int axis = 0;
  std::vector<AxisIndex> lists;
  for (const IndexItem& item : items) {
    if (std::holds_alternative<Ellipsis>(item)) axis += rank - named;
    if (const Index* const position = std::get_if<Index>(&item)) y = chosen(y, axis, *position);
    if (std::holds_alternative<NewAxis>(item)) y = with_axis(y, axis++);
    if (const Slice* const s = std::get_if<Slice>(&item)) {
      y = sliced(y, axis, *s, s->stop.value_or(y.shape()[axis]));
      ++axis;
    }
    if (const IntArray* const list = std::get_if<IntArray>(&item)) {
      lists.push_back({axis, counted_from_0(*list, y.shape()[axis], axis, y.shape())});
      ++axis;
    }
    if (const Mask* const mask = std::get_if<Mask>(&item); mask && mask->rank() == 0) {
      // As in PyTorch, a mask of one bool takes all of x, or nothing, along a new axis.
      y = with_axis(y, axis);
      lists.push_back({axis++, all(*mask) ? IntArray({1}) : IntArray({0})});
    } else if (mask) {
      const IntArray places = nonzero(*mask);
      for (int i = 0; i < mask->rank(); ++i) {
        check(mask->shape()[i] == y.shape()[axis], "mask ", mask->shape(), " does not fit x ", y.shape(), ": its axis ",
              i, " has ", mask->shape()[i], " positions, but axis ", axis, " of x has ", y.shape()[axis]);
        lists.push_back({axis++, places.select(1, i)});
      }
    }
  }
  return lists.empty() ? y : elements_at(y, positions_in(y.shape(), lists));
}

/// The row-major position in an array of this shape of every element that index() would select.
IntArray positions_of(const Shape& shape, std::initializer_list<IndexItem> items) {
  return indexed(int_arange(shape.numel()).reshape(shape), {items.begin(), items.size()}).contiguous();
}

/// The shape without leading axes of extent 1, of which it keeps enough for `rank` axes.
Shape without_leading_ones(Shape shape, int rank) {
  while (shape.rank() > rank && shape[0] == 1) shape = shape.without(0);
  return shape;
}

/// x with values[i] at the row-major position at[i].
template <class A>
A with_values(const A& x, const IntArray& at, const A& values) {
  A y = copy_of(x);
  const A from = values.contiguous();
  auto* const out = y.mutate();
  for (Index i = 0; i < at.numel(); ++i) out[at.data()[i]] = from.data()[i];
  return y;
}

}  // namespace

Tensor index(const Tensor& x, std::initializer_list<IndexItem> items) {
  x.array().require("index");
  const Op op("index");
  return indexed(x, {items.begin(), items.size()});
}

IntArray index(const IntArray& x, std::initializer_list<IndexItem> items) {
  x.require("index");
  const Op op("index");
  return indexed(x, {items.begin(), items.size()});
}

Tensor index_put(const Tensor& x, std::initializer_list<IndexItem> items, const Tensor& values) {
  x.array().require("index_put");
  const IntArray at = [&] {
    const Op op("index_put");
    return positions_of(x.shape(), items);
  }();
  if (const Shape shape = without_leading_ones(values.shape(), at.rank()); shape != values.shape())
    return index_put(x, items, reshape(values, shape));
  Op op("index_put", x, values);
  return op.record(with_values(x.array(), at, values.array().expand(at.shape())), save(at),
                   [](const Array& dy, Grads& dx, const IntArray& at) {
                     // Only the values that were not overwritten by later ones reach the result.
                     IntArray last = IntArray::full(dy.shape(), -1);
                     last = with_values(last, at, int_arange(at.numel()).reshape(at.shape()));
                     if (dx.wants(0)) dx.add(0, detail::zero_where(dy, last >= 0, true));
                     if (!dx.wants(1)) return;
                     Array of_values = Array::zeros(at.shape());
                     real* const to = of_values.mutate();
                     const Array from = dy.contiguous();
                     for (Index i = 0; i < last.numel(); ++i)
                       if (last.data()[i] >= 0) to[last.data()[i]] = from.data()[i];
                     dx.add(1, of_values);
                   });
}

IntArray index_put(const IntArray& x, std::initializer_list<IndexItem> items, const IntArray& values) {
  x.require("index_put");
  const Op op("index_put");
  const IntArray at = positions_of(x.shape(), items);
  const Shape shape = without_leading_ones(values.shape(), at.rank());
  return with_values(x, at, values.reshape(shape).expand(at.shape()));
}

}  // namespace mote
