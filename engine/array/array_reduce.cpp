// Sums, maxima and minima over axes. The shape alone fixes the order of additions.
#include <numeric>

#include "engine/array/array.h"
#include "engine/base/parallel.h"

namespace mote {

Axes Axes::of(int rank) const {
  Axes sorted = *this;
  for (int& a : std::span(sorted.axes_).first(static_cast<std::size_t>(count_))) {
    check_in("reduce", a >= -rank && a < rank, "axis ", a, " is out of range for rank ", rank);
    if (a < 0) a += rank;
  }
  if (empty()) std::iota(sorted.axes_.begin(), sorted.axes_.begin() + (sorted.count_ = rank), 0);
  std::sort(sorted.axes_.begin(), sorted.axes_.begin() + sorted.count_);
  const int* const twice = std::adjacent_find(sorted.begin(), sorted.end());
  check_in("reduce", twice == sorted.end(), "axis ", twice == sorted.end() ? 0 : *twice, " is listed twice");
  return sorted;
}

Shape reduced_shape(const Shape& shape, const Axes& axes, bool keepdim) {
  const Axes list = axes.of(shape.rank());
  Shape result = shape;
  for (const int* axis = list.end(); axis != list.begin();) {
    --axis;
    result = keepdim ? result.with(*axis, 1) : result.without(*axis);
  }
  return result;
}

namespace {

/// x as contiguous [outer, count, inner], of which `count` is reduced. Reduced axes that are not adjacent are moved to
/// the end, and inner is 1.
struct Reduction {
  Array x;
  Index outer = 1, count = 1, inner = 1;
  Shape shape;

  Reduction(const Array& from, const Axes& axes, bool keepdim, bool to_rows)
      : shape(reduced_shape(from.shape(), axes, keepdim)) {
    const Axes sorted = axes.of(from.rank());
    const std::span<const int> list = sorted.list();
    const bool together = list.empty() || list.back() - list.front() + 1 == static_cast<int>(list.size());
    Index after = 1;
    for (int i = list.empty() ? from.rank() : list.back() + 1; i < from.rank(); ++i) after *= from.shape()[i];
    for (const int a : list) count *= from.shape()[a];
    if (together && (after == 1 || !to_rows)) {
      inner = after;
      x = from.contiguous();
    } else {
      std::vector<int> order;
      for (int i = 0; i < from.rank(); ++i)
        if (!std::binary_search(list.begin(), list.end(), i)) order.push_back(i);
      order.insert(order.end(), list.begin(), list.end());
      x = from.permute(order).contiguous();
    }
    outer = shape.numel() / std::max<Index>(inner, 1);
  }
};

constexpr double element = 0.15;  // nanoseconds to reduce one
Index grain_of_rows(Index count) { return grain_for(5 + element * static_cast<double>(count)); }

constexpr Index sum_block = 4096;  // part of the definition of a sum: the blocks' sums are added in order

real sum_row(const real* x, Index n) {
  const auto f = kernels::table().sum;
  if (n <= sum_block) return f(x, n);
  const Index blocks = (n + sum_block - 1) / sum_block;
  Array parts = Array::empty({blocks});
  real* const part = parts.mutate();
  parallel_for(blocks, grain_of_rows(sum_block), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) part[i] = f(x + i * sum_block, std::min(sum_block, n - i * sum_block));
  });
  real total = 0;
  for (Index i = 0; i < blocks; ++i) total += part[i];
  return total;
}

Array reduce_rows(kernels::Reduce* f, const Array& x, const Axes& axes, bool keepdim, const char* name) {
  const Reduction r(x, axes, keepdim, true);
  check_in(name, r.count > 0 || r.outer == 0, "cannot reduce an empty axis of shape ", x.shape());
  Array y = Array::empty(r.shape);
  real* const out = y.mutate();
  parallel_for(r.outer, grain_of_rows(r.count), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) out[i] = f(r.x.data() + i * r.count, r.count);
  });
  return y;
}

}  // namespace

Array sum(const Array& x, const Axes& axes, bool keepdim) {
  const Reduction r(x, axes, keepdim, false);
  Array y = Array::empty(r.shape);
  real* const out = y.mutate();
  const real* const in = r.x.data();
  if (r.inner == 1) {
    parallel_for(r.outer, grain_of_rows(r.count), [&](Index lo, Index hi) {
      for (Index i = lo; i < hi; ++i) out[i] = sum_row(in + i * r.count, r.count);
    });
    return y;
  }
  constexpr Index stripe = 64;  // columns per task: whole cache lines
  const Index stripes = (r.inner + stripe - 1) / stripe;
  const auto f = kernels::table().sum_columns;
  parallel_for(r.outer * stripes, grain_of_rows(stripe * r.count), [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index o = task / stripes, j = task % stripes * stripe;
      f(in + o * r.count * r.inner + j, r.count, r.inner, out + o * r.inner + j, std::min(stripe, r.inner - j));
    }
  });
  return y;
}

Array max(const Array& x, const Axes& axes, bool keepdim) {
  return reduce_rows(kernels::table().max, x, axes, keepdim, "max");
}
Array min(const Array& x, const Axes& axes, bool keepdim) {
  return reduce_rows(kernels::table().min, x, axes, keepdim, "min");
}

Array sum_to(const Array& x, const Shape& shape) {
  if (x.shape() == shape) return x;
  check_in("sum_to", x.rank() >= shape.rank(), "shape ", shape, " does not broadcast to ", x.shape());
  std::array<int, Shape::max_rank> axes;
  std::size_t count = 0;
  const int extra = x.rank() - shape.rank();
  for (int i = 0; i < x.rank(); ++i) {
    const Index target = i < extra ? 1 : shape[i - extra];
    check_in("sum_to", target == 1 || target == x.shape()[i], "shape ", shape, " does not broadcast to ", x.shape());
    if (i < extra || target != x.shape()[i]) axes[count++] = i;
  }
  return count == 0 ? x.reshape(shape) : sum(x, std::span<const int>(axes.data(), count), true).reshape(shape);
}

}  // namespace mote
