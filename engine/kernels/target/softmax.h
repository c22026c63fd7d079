// The kernels for one row of scores: softmax, log-softmax, cross-entropy and their gradients.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/rows.h"

namespace mote {
namespace {

/// True in each lane i < n whose keep[i] is not 0. If keep is null, true in every lane i < n.
MOTE_INLINE Truths kept(const std::uint8_t* keep, Index n) {
  if (!keep) return lanes_below(n);
  real flags[Vec::lanes] = {};
  if (n == Vec::lanes) {  // a loop of fixed length becomes a few vector instructions
    for (int i = 0; i < Vec::lanes; ++i) flags[i] = static_cast<real>(keep[i]);
  } else {
    for (Index i = 0; i < n; ++i) flags[i] = static_cast<real>(keep[i]);
  }
  return Vec::load(flags) != Vec::zero();
}

/// The largest element. NaN is ignored, because in a row with NaN the sum of exponentials is NaN anyway.
MOTE_INLINE real largest_of(const real* x, Index n) {
  Vec best(-infinity);
  const Index whole = n - n % Vec::lanes, rest = n - whole;
  for (Index i = 0; i < whole; i += Vec::lanes) best = greater_of(Vec::load(x + i), best);
  if (rest) best = greater_of(select(lanes_below(rest), Vec::load_first(x + whole, rest), best), best);
  return greatest_tree(best);
}

/// exp(v) in the first n lanes, and 0 in the others. v_exp_below() needs v <= 0, which may not hold in the other
/// lanes.
MOTE_INLINE Vec exp_below_first(Vec v, Index n) {
  return v_exp_below(n == Vec::lanes ? v : select(lanes_below(n), v, Vec(-infinity)));
}

/// softmax without a mask. The last n mod 16 elements stay in a register until they are finished.
MOTE_INLINE void softmax_row(const real* x, real* y, real* stats, Index n) {
  const Index whole = n - n % Vec::lanes, rest = n - whole;
  const real largest = largest_of(x, n);
  const Vec top(largest);
  Vec total = Vec::zero(), last = Vec::zero();
  for (Index i = 0; i < whole; i += Vec::lanes) {
    const Vec e = v_exp_below(Vec::load(x + i) - top);
    e.store(y + i);
    total += e;
  }
  if (rest) last = exp_below_first(Vec::load_first(x + whole, rest) - top, rest);
  const real sum = sum_tree(total + last);
  if (stats) {
    stats[0] = largest;
    stats[1] = sum;
  }
  const Vec scale(real(1) / (sum == 0 ? real(1) : sum));  // divides only once per row; an empty row has the sum 0
  for (Index i = 0; i < whole; i += Vec::lanes) (Vec::load(y + i) * scale).store(y + i);
  if (rest) (last * scale).store_first(y + whole, rest);
}

/// y = exp(x - max) / sum. Masked elements give 0 for any x, even NaN. A fully masked row gives zeros. Its max is
/// -infinity and its sum is 0.
void softmax(const real* x, const std::uint8_t* keep, real* y, real* stats, Index n) {
  if (!keep) return softmax_row(x, y, stats, n);
  Vec best(-infinity);
  Truths any_kept = lanes_below(0);
  for_lanes(n, [&](Index i, Index m) {
    const Truths k = kept(keep + i, m);
    any_kept = any_kept | k;
    best = greater_of(select(k, load_n(x + i, m), best), best);
  });
  if (!any(any_kept)) {
    for_lanes(n, [&](Index i, Index m) { store_n(Vec::zero(), y + i, m); });
    if (stats) {
      stats[0] = -infinity;
      stats[1] = 0;
    }
    return;
  }
  const real largest = greatest_tree(best);
  const Vec top(largest);
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) {
    const Vec e = v_exp_below(select(kept(keep + i, m), load_n(x + i, m), Vec(-infinity)) - top);
    store_n(e, y + i, m);
    total += e;
  });
  const real sum = sum_tree(total);
  if (stats) {
    stats[0] = largest;
    stats[1] = sum;
  }
  const Vec scale(real(1) / sum);
  for_lanes(n, [&](Index i, Index m) {  // masked elements stay 0 even if the sum is NaN
    store_n(select(kept(keep + i, m), load_n(y + i, m) * scale, Vec::zero()), y + i, m);
  });
}

/// dx = y (dy - sum(dy y)).
void softmax_backward(const real* dy, const real* y, real* dx, Index n) {
  const Vec inner(dot(dy, y, n));
  for_lanes(n, [&](Index i, Index m) { store_n(load_n(y + i, m) * (load_n(dy + i, m) - inner), dx + i, m); });
}

void log_sum_exp(const real* x, real* stats, Index n) {
  stats[0] = largest_of(x, n);
  const Vec top(stats[0]);
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) { total += exp_below_first(load_n(x + i, m) - top, m); });
  real log_total[Vec::lanes];
  v_log(Vec(sum_tree(total))).store(log_total);
  stats[1] = log_total[0];
}

/// y = (x - max) - log(sum(exp(x - max))). It is not computed as log(softmax(x)), because a softmax may round to 0.
void log_softmax(const real* x, real* y, Index n) {
  real stats[2];
  log_sum_exp(x, stats, n);
  const Vec top(stats[0]), log_total(stats[1]);
  for_lanes(n, [&](Index i, Index m) { store_n(load_n(x + i, m) - top - log_total, y + i, m); });
}

/// dx = dy - exp(y) sum(dy).
void log_softmax_backward(const real* dy, const real* y, real* dx, Index n) {
  const Vec total(sum(dy, n));
  for_lanes(n, [&](Index i, Index m) { store_n(load_n(dy + i, m) - v_exp(load_n(y + i, m)) * total, dx + i, m); });
}

real sum_log_softmax(const real* x, const real* stats, Index n) {
  const Vec top(stats[0]), log_total(stats[1]);
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) { total += zero_beyond(load_n(x + i, m) - top - log_total, m); });
  return sum_tree(total);
}

void cross_entropy_backward(const real* x, const real* stats, const kernels::TargetRow& target, real* dx, Index n) {
  const Vec top(stats[0]), log_total(stats[1]), spread(target.spread), scale(target.scale);
  const auto excess = [&](Vec v, Index m) { return exp_below_first(v - top - log_total, m); };
  real at_target[Vec::lanes];
  ((excess(Vec(x[target.index]), Vec::lanes) - Vec(target.sharp) - spread) * scale).store(at_target);
  for_lanes(n, [&](Index i, Index m) { store_n((excess(load_n(x + i, m), m) - spread) * scale, dx + i, m); });
  dx[target.index] = at_target[0];
}

}  // namespace
}  // namespace mote
