// Reductions and the kernels of one row: softmax, log-softmax, layer norm and their gradients.
#pragma once

#include "engine/kernels/target/elementwise.h"

namespace mote {
namespace {

/// Runs body(i, n) over [0, count) in steps of 16; n is 16 except in the last step. Lane i mod 16 takes element i.
template <class Body>
MOTE_INLINE void for_lanes(Index count, Body body) {
  Index i = 0;
  for (; i + Vec::lanes <= count; i += Vec::lanes) body(i, Index(Vec::lanes));
  if (i < count) body(i, count - i);
}
MOTE_INLINE Vec load_n(const real* p, Index n) { return n == Vec::lanes ? Vec::load(p) : Vec::load_first(p, n); }
MOTE_INLINE void store_n(Vec v, real* p, Index n) { n == Vec::lanes ? v.store(p) : v.store_first(p, n); }
/// True in the first n lanes. The others must not reach a sum or a maximum.
MOTE_INLINE Mask lanes_below(Index n) { return Vec::iota() < Vec(static_cast<real>(n)); }
MOTE_INLINE Vec one_beyond(Vec v, Index n) { return n == Vec::lanes ? v : select(lanes_below(n), v, Vec(1)); }
MOTE_INLINE Vec zero_beyond(Vec v, Index n) { return n == Vec::lanes ? v : select(lanes_below(n), v, Vec::zero()); }

constexpr real infinity = static_cast<real>(__builtin_inf());

real sum(const real* x, Index n) {
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) { total += load_n(x + i, m); });
  return sum_tree(total);
}

/// Lanes without an element start at, and keep, the identity of the reduction.
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

/// Sums blocks of 128 rows separately first, so that a thousand small values do not vanish beside a large total.
void sum_columns(const real* x, Index rows, Index stride, real* y, Index columns) {
  for_lanes(columns, [&](Index j, Index n) {
    Vec total = Vec::zero();
    for (Index r0 = 0; r0 < rows; r0 += 128) {
      Vec block = Vec::zero();
      const Index end = r0 + 128 < rows ? r0 + 128 : rows;
      for (Index r = r0; r < end; ++r) block += load_n(x + r * stride + j, n);
      total += block;
    }
    store_n(total, y + j, n);
  });
}

/// Which of the n elements from `keep` on are kept; all of them without a mask.
MOTE_INLINE Mask kept(const std::uint8_t* keep, Index n) {
  if (!keep) return lanes_below(n);
  real flags[Vec::lanes] = {};
  if (n == Vec::lanes) {  // a loop of fixed length becomes a few vector instructions
    for (int i = 0; i < Vec::lanes; ++i) flags[i] = static_cast<real>(keep[i]);
  } else {
    for (Index i = 0; i < n; ++i) flags[i] = static_cast<real>(keep[i]);
  }
  return Vec::load(flags) != Vec::zero();
}

/// y = e / sum for the row's exponentials e; masked elements stay 0 even if the sum is NaN.
MOTE_INLINE void divide_row(const std::uint8_t* keep, real sum, real* y, Index n) {
  const Vec denominator(sum);
  for_lanes(n, [&](Index i, Index m) {
    const Vec p = load_n(y + i, m) / denominator;
    store_n(keep ? select(kept(keep + i, m), p, Vec::zero()) : p, y + i, m);
  });
}

/// y = exp(x - max) / sum. Masked elements give 0 for any x, NaN included; a fully masked row is all zeros, its max
/// -infinity and its sum 0.
void softmax(const real* x, const std::uint8_t* keep, real* y, real* stats, Index n) {
  Vec best(-infinity);
  Mask any_kept = lanes_below(0);
  for_lanes(n, [&](Index i, Index m) {
    const Mask k = kept(keep ? keep + i : nullptr, m);
    any_kept = any_kept | k;
    best = maximum(best, select(k, load_n(x + i, m), Vec(-infinity)));
  });
  if (keep && !any(any_kept)) {
    for_lanes(n, [&](Index i, Index m) { store_n(Vec::zero(), y + i, m); });
    if (stats) stats[0] = -infinity, stats[1] = 0;
    return;
  }
  const real largest = max_tree(best);
  const Vec top(largest);
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) {
    const Vec e = select(kept(keep ? keep + i : nullptr, m), v_exp(load_n(x + i, m) - top), Vec::zero());
    store_n(e, y + i, m);
    total += e;
  });
  const real sum = sum_tree(total);
  if (stats) stats[0] = largest, stats[1] = sum;
  divide_row(keep, sum, y, n);
}

void softmax_again(const real* x, const std::uint8_t* keep, const real* stats, real* y, Index n) {
  if (stats[1] == 0) {  // softmax divides by at least exp(0) = 1, unless all are masked
    for_lanes(n, [&](Index i, Index m) { store_n(Vec::zero(), y + i, m); });
    return;
  }
  const Vec top(stats[0]), denominator(stats[1]);
  for_lanes(n, [&](Index i, Index m) {
    const Vec p = v_exp(load_n(x + i, m) - top) / denominator;
    store_n(keep ? select(kept(keep + i, m), p, Vec::zero()) : p, y + i, m);
  });
}

/// dx = y (dy - sum(dy y)).
void softmax_backward(const real* dy, const real* y, real* dx, Index n) {
  const Vec inner(dot(dy, y, n));
  for_lanes(n, [&](Index i, Index m) { store_n(load_n(y + i, m) * (load_n(dy + i, m) - inner), dx + i, m); });
}

/// y = (x - max) - log(sum(exp(x - max))): never the logarithm of a softmax, which may have rounded to 0.
void log_softmax(const real* x, real* y, Index n) {
  const Vec top(max(x, n));
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) { total += zero_beyond(v_exp(load_n(x + i, m) - top), m); });
  const Vec log_total = v_log(Vec(sum_tree(total)));
  for_lanes(n, [&](Index i, Index m) { store_n(load_n(x + i, m) - top - log_total, y + i, m); });
}

/// dx = dy - exp(y) sum(dy).
void log_softmax_backward(const real* dy, const real* y, real* dx, Index n) {
  const Vec total(sum(dy, n));
  for_lanes(n, [&](Index i, Index m) { store_n(load_n(dy + i, m) - v_exp(load_n(y + i, m)) * total, dx + i, m); });
}

/// The mean as x[0] + mean(x - x[0]): for a row of equal elements exactly that value, which sum / n need not be.
real mean_of(const real* x, Index n) {
  Vec total = Vec::zero();
  for_lanes(n, [&](Index i, Index m) { total += zero_beyond(load_n(x + i, m) - Vec(x[0]), m); });
  return x[0] + sum_tree(total) / static_cast<real>(n);
}

MOTE_INLINE real inverse_sqrt(real x) {
  real out[Vec::lanes];
  (Vec(1) / sqrt(Vec(x))).store(out);
  return out[0];
}

void layer_norm(const real* x, const real* weight, const real* bias, real eps, real* y, real* stats, Index n) {
  const real mean = mean_of(x, n);
  const real variance = sum_squared_difference(x, mean, n) / static_cast<real>(n);  // biased, two passes
  stats[0] = mean;
  stats[1] = inverse_sqrt(variance + eps);
  for_lanes(n, [&](Index i, Index m) {
    Vec v = (load_n(x + i, m) - Vec(stats[0])) * Vec(stats[1]);
    if (weight) v = v * load_n(weight + i, m);
    if (bias) v += load_n(bias + i, m);
    store_n(v, y + i, m);
  });
}

/// With h = (x - mean) inv_std and g = dy weight: dx = inv_std (g - mean(g) - h mean(g h)).
void layer_norm_backward(const real* dy, const real* x, const real* weight, const real* stats, real* dx, Index n) {
  const Vec mean(stats[0]), inv_std(stats[1]);
  Vec sum_g = Vec::zero(), sum_gh = Vec::zero();
  for_lanes(n, [&](Index i, Index m) {
    const Vec g = weight ? load_n(dy + i, m) * load_n(weight + i, m) : load_n(dy + i, m);
    sum_g += g;
    sum_gh = fma(g, zero_beyond((load_n(x + i, m) - mean) * inv_std, m), sum_gh);
  });
  const Vec mean_g(sum_tree(sum_g) / static_cast<real>(n)), mean_gh(sum_tree(sum_gh) / static_cast<real>(n));
  for_lanes(n, [&](Index i, Index m) {
    const Vec g = weight ? load_n(dy + i, m) * load_n(weight + i, m) : load_n(dy + i, m);
    const Vec h = (load_n(x + i, m) - mean) * inv_std;
    store_n(inv_std * (g - mean_g - h * mean_gh), dx + i, m);
  });
}

/// y = x / sqrt(mean(x^2) + eps) * weight; stats = {0, 1 / sqrt(...)}.
void rms_norm(const real* x, const real* weight, real eps, real* y, real* stats, Index n) {
  const real square = sum_squared_difference(x, 0, n) / static_cast<real>(n);
  stats[0] = 0;
  stats[1] = inverse_sqrt(square + eps);
  for_lanes(n, [&](Index i, Index m) {
    Vec v = load_n(x + i, m) * Vec(stats[1]);
    if (weight) v = v * load_n(weight + i, m);
    store_n(v, y + i, m);
  });
}

/// With h = x inv_rms and g = dy weight: dx = inv_rms (g - h mean(g h)), as in layer norm but without the mean.
void rms_norm_backward(const real* dy, const real* x, const real* weight, const real* stats, real* dx, Index n) {
  const Vec inv_rms(stats[1]);
  Vec sum_gh = Vec::zero();
  for_lanes(n, [&](Index i, Index m) {
    const Vec g = weight ? load_n(dy + i, m) * load_n(weight + i, m) : load_n(dy + i, m);
    sum_gh = fma(g, load_n(x + i, m) * inv_rms, sum_gh);
  });
  const Vec mean_gh(sum_tree(sum_gh) / static_cast<real>(n));
  for_lanes(n, [&](Index i, Index m) {
    const Vec g = weight ? load_n(dy + i, m) * load_n(weight + i, m) : load_n(dy + i, m);
    store_n(inv_rms * (g - load_n(x + i, m) * inv_rms * mean_gh), dx + i, m);
  });
}

void add_scaled_product(const real* dy, const real* x, real shift, real scale, real* y, Index n) {
  for_lanes(n, [&](Index i, Index m) {
    const Vec h = (load_n(x + i, m) - Vec(shift)) * Vec(scale);
    store_n(fma(load_n(dy + i, m), h, load_n(y + i, m)), y + i, m);
  });
}

}  // namespace
}  // namespace mote
