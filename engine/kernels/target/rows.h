// Loops over a row in steps of 16 lanes, and the reductions: sums, maxima, minima and sums over rows.
#pragma once

#include "engine/base/math_trig.h"
#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

/// Runs body(i, n) over [0, count) in steps of 16; n is 16 except in the last step. Lane i mod 16 takes element i.
template <class Body>
MOTE_INLINE void for_lanes(Index count, Body body) {
  Index i = 0;
  for (; i + Vec::lanes <= count; i += Vec::lanes) body(i, Index(Vec::lanes));
  if (i < count) body(i, count - i);
}
template <class V = Vec>
MOTE_INLINE V load_n(const real* p, Index n) {
  return n >= V::lanes ? V::load(p) : V::load_first(p, n);
}
template <class V>
MOTE_INLINE void store_n(V v, real* p, Index n) {
  n >= V::lanes ? v.store(p) : v.store_first(p, n);
}
/// True in the first n lanes. The other lanes hold no elements and must not reach a sum or a maximum.
MOTE_INLINE Truths lanes_below(Index n) { return Vec::iota() < Vec(static_cast<real>(n)); }
template <class V>
MOTE_INLINE V one_beyond(V v, Index n) {
  return n >= V::lanes ? v : select(V::iota() < V(static_cast<real>(n)), v, 1);
}
MOTE_INLINE Vec zero_beyond(Vec v, Index n) { return n == Vec::lanes ? v : select(lanes_below(n), v, Vec::zero()); }

constexpr real infinity = static_cast<real>(__builtin_inf());

real sum(const real* x, Index n) {
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) { total += load_n(x + i, m); });
  return sum_tree(total);
}

/// Lanes without an element keep the identity of the reduction, which is -infinity for max and infinity for min.
real max(const real* x, Index n) {
  Vec best(-infinity);
  for_lanes(n, [&](Index i, Index m) { best = maximum(best, select(lanes_below(m), load_n(x + i, m), best)); });
  return max_tree(best);
}
real min(const real* x, Index n) {
  Vec best(infinity);
  for_lanes(n, [&](Index i, Index m) { best = minimum(best, select(lanes_below(m), load_n(x + i, m), best)); });
  return min_tree(best);
}

real sum_squared_difference(const real* x, real centre, Index n) {
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) {
    const Vec d = zero_beyond(load_n(x + i, m) - Vec(centre), m);
    total = fma(d, d, total);
  });
  return sum_tree(total);
}

real dot(const real* a, const real* b, Index n) {
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) { total = fma(load_n(a + i, m), load_n(b + i, m), total); });
  return sum_tree(total);
}

/// sum_columns() for `vecs` Vecs of columns. The additions of several Vecs do not wait for each other.
template <int vecs>
MOTE_INLINE void sum_columns_of(const real* x, Index rows, Index stride, real* y, Index n) {
  Vec total[vecs];
  for (int v = 0; v < vecs; ++v) total[v] = Vec::zero();
  for (Index r0 = 0; r0 < rows; r0 += kernels::sum_rows) {
    Vec block[vecs];
    for (int v = 0; v < vecs; ++v) block[v] = Vec::zero();
    const Index end = r0 + kernels::sum_rows < rows ? r0 + kernels::sum_rows : rows;
    for (Index r = r0; r < end; ++r)
      for (int v = 0; v < vecs; ++v)
        block[v] += vecs > 1 ? Vec::load(x + r * stride + v * Vec::lanes) : load_n(x + r * stride, n);
    for (int v = 0; v < vecs; ++v) total[v] += block[v];
  }
  for (int v = 0; v < vecs; ++v) vecs > 1 ? total[v].store(y + v * Vec::lanes) : store_n(total[v], y, n);
}

/// Sums each block of rows separately first, so that small values do not vanish beside a large total.
void sum_columns(const real* x, Index rows, Index stride, real* y, Index columns) {
  constexpr Index wide = 4 * Vec::lanes;
  Index j = 0;
  for (; j + wide <= columns; j += wide) sum_columns_of<4>(x + j, rows, stride, y + j, wide);
  for_lanes(columns - j, [&](Index i, Index n) { sum_columns_of<1>(x + j + i, rows, stride, y + j + i, n); });
}

}  // namespace
}  // namespace mote
