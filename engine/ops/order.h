// sort, argsort and topk along one axis; histogram.
#pragma once

#include <algorithm>
#include <numeric>
#include <vector>

#include "engine/ops/create.h"
#include "engine/ops/reduce.h"

namespace mote {

/// Fills `first` with the positions of the k largest elements of a row, largest first. Equal elements keep their
/// order. NaN counts as largest. Errors: a k outside [0, n].
inline void rank_first(const real* row, Index n, Index k, std::vector<Index>& first) {
  check_in("rank_first", n >= 0, "n = ", n, " must be at least 0");
  check_in("rank_first", k >= 0 && k <= n, "k = ", k, " must be from 0 to ", n, ", the length of the row");
  first.resize(static_cast<std::size_t>(n));
  std::iota(first.begin(), first.end(), Index(0));
  std::partial_sort(first.begin(), first.begin() + k, first.end(), [row](Index a, Index b) {
    return detail::ranks_before(row[a], row[b]) || (!detail::ranks_before(row[b], row[a]) && a < b);
  });
  first.resize(static_cast<std::size_t>(k));
}

namespace detail {
/// The positions of the first k elements of every line along an axis, in ascending or `descending` order. Equal
/// elements keep their order. NaN counts as largest.
inline IntArray ranking(const Array& x, Integer axis, Index k, bool descending) {
  const Index extent = x.shape()[axis];
  check(k >= 0 && k <= extent, "k = ", k, " must be from 0 to ", extent, ", the extent of axis ", axis, " of ",
        x.shape());
  const Array in = x.contiguous();
  IntArray best(x.shape().with(axis, k));
  Index* const out = best.mutate();
  const Shape lines = x.shape().with(axis, 1);
  const Along from(x.shape(), axis, lines), to(best.shape(), axis, lines);
  std::vector<Index> order(static_cast<std::size_t>(extent));
  for (Index line = 0; line < lines.numel(); ++line) {
    const real* const row = in.data() + from.line(line);
    std::iota(order.begin(), order.end(), Index(0));
    std::partial_sort(order.begin(), order.begin() + k, order.end(), [&](Index a, Index b) {
      const real x = row[a * from.step], y = row[b * from.step];
      const bool before = ranks_before(x, y), behind = ranks_before(y, x);
      return before == behind ? a < b : before == descending;
    });
    for (Index i = 0; i < k; ++i) out[to.line(line) + i * to.step] = order[static_cast<std::size_t>(i)];
  }
  return best;
}
}  // namespace detail

/// The elements along an axis in ascending or `descending` order, and the positions they had in x. Write const auto
/// [values, indices] = sort(x). Equal elements keep their order. NaN counts as largest. x [..., N, ...] -> values and
/// indices of the same shape.
inline Ranked sort(const Tensor& x, Integer axis = -1, Flag descending = false) {
  Op op("sort", x);
  const IntArray order = detail::ranking(x.array(), axis, x.size(axis), descending);
  return detail::ranked(op, x, axis, order, order.shape());
}

/// The indices of sort() without the values. index(x, argsort(keys)) sorts the rows of x by their keys. The indices
/// have no gradient.
inline IntArray argsort(const Tensor& x, Integer axis = -1, Flag descending = false) {
  const Op op("argsort");
  return detail::ranking(x.array(), axis, x.size(axis), descending);
}

/// The k largest elements along an axis, largest first, and their positions. With `largest` = false, topk gives the k
/// smallest elements, smallest first. Of equal elements the first ones are taken (PyTorch leaves this open). NaN
/// counts as largest. x [..., N, ...] -> values and indices [..., k, ...]. Errors: a k outside [0, N].
inline Ranked topk(const Tensor& x, Integer k, Integer axis = -1, Flag largest = true) {
  Op op("topk", x);
  const IntArray best = detail::ranking(x.array(), axis, k, largest);
  return detail::ranked(op, x, axis, best, best.shape());
}

/// The result of histogram(), with PyTorch's names. hist [bins] holds the counts, and bin_edges [bins + 1] holds the
/// edges of the bins.
struct Histogram {
  Tensor hist, bin_edges;
};

/// Counts the elements of x in `bins` bins of equal width, from the smallest element to the largest. Each bin
/// includes its lower edge, and the last bin includes both edges. With `density` the counts are divided by their sum
/// and by the width of a bin. Errors: bins below 1, no elements, an element that is not finite.
inline Histogram histogram(const Tensor& x, Integer bins = 100, Flag density = false) {
  const Op op("histogram");
  check(bins >= 1 && bins < Shape::max_numel, "bins ", bins, " is not in [1, ", Shape::max_numel, ")");
  check(x.numel() > 0, "x ", x.shape(), " must have at least one element");
  real low = min(x.array()).item(), high = max(x.array()).item();
  check(std::isfinite(low) && std::isfinite(high), "elements from ", low, " to ", high, " must be finite");
  if (low == high) {
    low -= real(0.5);
    high += real(0.5);
  }
  const Array edges = linspace(low, high, bins + 1).array();
  Array counts = Array::zeros({bins});
  real* const out = counts.mutate();
  const std::span<const real> borders = edges.values();
  for (const real value : x.to_vector()) {
    const Index bin = std::upper_bound(borders.begin(), borders.end(), value) - borders.begin() - 1;
    ++out[std::min<Index>(bin, bins - 1)];
  }
  if (density) {
    const Array widths = edges.slice(0, 1, bins + 1) - edges.slice(0, 0, bins);
    counts = counts / (widths * static_cast<real>(x.numel()));
  }
  return {counts, edges};
}

}  // namespace mote
