// Sums, maxima and minima over axes. The shape alone fixes the order of additions.
#include <algorithm>
#include <array>
#include <numeric>

#include "engine/array/array.h"
#include "engine/base/parallel.h"

namespace mote {
namespace {

bool repeats(const Array& x, Integer axis) { return x.stride(axis) == 0 && x.shape()[axis] > 1; }

/// The input of a reduction, seen as an array [outer, count, inner] whose middle axis is reduced. Reduced axes that are
/// not adjacent are moved to the end, and inner is then 1. A view that repeats elements (expand) may be larger than
/// memory, so such a view is copied only in pieces.
class ReducedAxes {
 public:
  Index outer = 1, count = 1, inner = 1;
  Shape shape;  // of the result

  ReducedAxes(const Array& x, const Axes& axes, Flag keepdim, bool to_rows)
      : shape(reduced_shape(x.shape(), axes, keepdim)), x_(x) {
    const Axes sorted = axes.of(x.rank());
    const std::span<const Index> list(sorted.begin(), sorted.end());
    const bool together = list.empty() || list.back() - list.front() + 1 == std::ssize(list);
    Index after = 1;
    for (Index i = list.empty() ? x.rank() : list.back() + 1; i < x.rank(); ++i) after *= x.shape()[i];
    for (const Index a : list) count *= x.shape()[a];
    if (together && (after == 1 || !to_rows)) {
      inner = after;
    } else {
      std::vector<Index> order;
      for (Index i = 0; i < x.rank(); ++i)
        if (!std::binary_search(list.begin(), list.end(), i)) order.push_back(i);
      order.insert(order.end(), list.begin(), list.end());
      x_ = x.permute(order);
    }
    outer = shape.numel() / std::max<Index>(inner, 1);
    for (int i = 0; i < x.rank(); ++i)
      if (repeats(x_, i)) return;
    x_ = x_.contiguous();
    first_ = x_.data();
  }

  /// Returns a pointer to elements [begin, begin + n) in row-major order. The elements are copied to `room` if the
  /// input is available only in pieces.
  const real* piece(Index begin, Index n, real* room) const {
    if (first_) return first_ + begin;
    const Index row = x_.shape()[-1], step = x_.stride(-1);
    for (Index done = 0, run = 0; done < n; done += run) {
      const Index at = (begin + done) % row;
      run = std::min(n - done, row - at);
      const real* const from = x_.data() + x_.layout().offset_of_part((begin + done) / row, 1) + at * step;
      for (Index i = 0; i < run; ++i) room[done + i] = from[i * step];
    }
    return room;
  }
  bool in_pieces() const { return !first_; }

 private:
  Array x_;
  const real* first_ = nullptr;  // null if elements are available only in pieces
};

/// The grain for rows of `count` elements. An element takes 0.15 nanoseconds.
Index grain_of_rows(Index count) { return grain_for(5 + 0.15 * static_cast<double>(count)); }

constexpr Index reduce_block = 4096;  // elements per block; part of the definition of a sum, whose bits depend on it
constexpr Index stripe = 64;          // columns per task; a whole number of cache lines

/// Returns the size of the groups in which `count` items are added. It is the smallest power of sum_rows (128) with
/// which there are at most sum_rows groups.
Index group_of(Index count) {
  Index group = kernels::sum_rows;
  while (group < (count - 1) / kernels::sum_rows + 1) group *= kernels::sum_rows;
  return group;
}

/// Adds up the sums of blocks. Up to sum_rows (128) sums are added in order. If there are more, the sums are first
/// added in groups, whose size is a power of sum_rows. In one chain of a hundred thousand additions, each addition
/// would be rounded to the precision of the large total.
real sum_in_groups(std::span<const real> blocks) {
  const Index count = std::ssize(blocks);
  if (count <= kernels::sum_rows) return std::accumulate(blocks.begin(), blocks.end(), real(0));
  const Index group = group_of(count);
  real total = 0;
  for (Index i = 0; i < count; i += group)
    total += sum_in_groups(
        blocks.subspan(static_cast<std::size_t>(i), static_cast<std::size_t>(std::min(group, count - i))));
  return total;
}

real sum_of_blocks(const ReducedAxes& r, Index begin) {
  std::vector<real, CachedAllocator<real>> part(static_cast<std::size_t>((r.count + reduce_block - 1) / reduce_block));
  parallel_for(static_cast<Index>(part.size()), grain_of_rows(reduce_block), [&](Index lo, Index hi) {
    std::array<real, reduce_block> room;
    for (Index i = lo, n; i < hi; ++i) {
      n = std::min(reduce_block, r.count - i * reduce_block);
      part[static_cast<std::size_t>(i)] = kernels::table().sum(r.piece(begin + i * reduce_block, n, room.data()), n);
    }
  });
  return sum_in_groups(part);
}

/// Computes the sums of `width` adjacent columns over `rows` rows. `width` is at most `stripe`. The first row begins at
/// element `begin`. Rows are summed in blocks, and the sums of blocks are added in groups as in sum_in_groups().
void sum_columns(const ReducedAxes& r, Index begin, Index rows, Index width, real* out) {
  const auto f = kernels::table().sum_columns;
  if (!r.in_pieces() && rows <= kernels::sum_rows * kernels::sum_rows)
    return f(r.piece(begin, 0, nullptr), rows, r.inner, out, width);
  if (rows <= kernels::sum_rows) {
    std::array<real, kernels::sum_rows * stripe> room;
    for (Index i = 0; i < rows; ++i) r.piece(begin + i * r.inner, width, room.data() + i * width);
    return f(room.data(), rows, width, out, width);
  }
  const Index group = group_of(rows);
  std::array<real, stripe> part;
  std::fill_n(out, width, real(0));
  for (Index first = 0; first < rows; first += group) {
    sum_columns(r, begin + first * r.inner, std::min(group, rows - first), width, part.data());
    for (Index j = 0; j < width; ++j) out[j] += part[static_cast<std::size_t>(j)];
  }
}

/// Applies f to each row. For sums, rows have at most reduce_block elements. For max and min, rows may have any length.
Array reduce_rows(kernels::Reduce* f, const ReducedAxes& r) {
  Array y = Array::empty(r.shape);
  parallel_for(r.outer, grain_of_rows(r.count), [&, out = y.mutate()](Index lo, Index hi) {
    std::vector<real> room(r.in_pieces() ? static_cast<std::size_t>(r.count) : 0);
    for (Index i = lo; i < hi; ++i) out[i] = f(r.piece(i * r.count, r.count, room.data()), r.count);
  });
  return y;
}

/// The maxima or minima of x over `axes`. An axis that repeats one element (expand) is first cut to one position.
Array extremes(kernels::Reduce* f, Array x, const Axes& axes, Flag keepdim, const char* name) {
  const Shape shape = x.shape();
  for (const Index a : axes.of(x.rank()))
    if (repeats(x, a)) x = x.slice(a, 0, 1);
  const ReducedAxes r(x, axes, keepdim, true);
  check_in(name, r.count > 0 || r.outer == 0, "cannot reduce an empty axis of shape ", shape);
  return reduce_rows(f, r);
}

}  // namespace

Array sum(const Array& x, const Axes& axes, Flag keepdim) {
  const ReducedAxes r(x, axes, keepdim, false);
  if (r.inner == 1 && r.count <= reduce_block) return reduce_rows(kernels::table().sum, r);
  Array y = Array::empty(r.shape);
  real* const out = y.mutate();
  if (r.inner == 1) {
    parallel_for(r.outer, grain_of_rows(r.count), [&](Index lo, Index hi) {
      for (Index i = lo; i < hi; ++i) out[i] = sum_of_blocks(r, i * r.count);
    });
    return y;
  }
  const Index stripes = (r.inner + stripe - 1) / stripe;
  parallel_for(r.outer * stripes, grain_of_rows(stripe * r.count), [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index o = task / stripes, j = task % stripes * stripe;
      sum_columns(r, o * r.count * r.inner + j, r.count, std::min(stripe, r.inner - j), out + o * r.inner + j);
    }
  });
  return y;
}

Array max(const Array& x, const Axes& axes, Flag keepdim) {
  return extremes(kernels::table().max, x, axes, keepdim, "max");
}
Array min(const Array& x, const Axes& axes, Flag keepdim) {
  return extremes(kernels::table().min, x, axes, keepdim, "min");
}

Array sum_to(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  check_in("sum_to", Layout(shape).expands_to(x.shape()), x.shape(), " cannot be summed to ", shape,
           ": a sum undoes broadcasting, and ", shape, " does not broadcast to ", x.shape());
  std::array<Index, Shape::max_rank> axes;
  std::size_t count = 0;
  const int extra = x.rank() - shape.rank();
  for (int i = 0; i < x.rank(); ++i)
    if (i < extra || shape[i - extra] != x.shape()[i]) axes[count++] = i;
  return sum(x, std::span<const Index>(axes.data(), count), true).reshape(shape);
}

}  // namespace mote
