// Steps of gradient descent on contiguous elements. The operations have the same order as in PyTorch, so they round
// in the same way.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/rows.h"

namespace mote {
namespace {

// Where PyTorch adds a multiple of a tensor, it uses a fused multiply-add. These kernels do the same, so the results
// equal PyTorch's bit for bit.

/// x, or 0 where |x| is below `smallest`. If a gradient stays 0, as for the embedding of a token that does not occur,
/// its running mean shrinks below the smallest normal number. Processors take ten times as long for such subnormal
/// numbers.
MOTE_INLINE Vec flush(Vec x, real smallest) { return select(abs(x) < Vec(smallest), Vec::zero(), x); }

constexpr real smallest_normal = Constants<real>::smallest_normal;

/// value *= decay;  g = grad + l2 value;  m = decay1 m + weight1 g;  v = decay2 v + (weight2 g) g;
/// value -= (step_size m) / (sqrt(v) / correction2_sqrt + eps).
void descend_by_moments(const kernels::MomentsDescent& s, real* value, const real* grad, real* m, real* v, Index n) {
  for_lanes(n, [&](Index i, Index k) {
    const Vec p = load_n(value + i, k) * Vec(s.decay);
    const Vec g = fma(Vec(s.l2), p, load_n(grad + i, k));
    const Vec mean = flush(fma(Vec(s.weight1), g, load_n(m + i, k) * Vec(s.decay1)), s.smallest);
    const Vec square = flush(fma(Vec(s.weight2) * g, g, load_n(v + i, k) * Vec(s.decay2)), s.smallest);
    const Vec denominator = sqrt(square) / Vec(s.correction2_sqrt) + Vec(s.eps);
    store_n(mean, m + i, k);
    store_n(square, v + i, k);
    store_n(p - Vec(s.step_size) * mean / one_beyond(denominator, k), value + i, k);
  });
}

/// g = grad + l2 value;  velocity = first ? g : momentum velocity + weight g;
/// value -= lr (nesterov ? g + momentum velocity : velocity). A null velocity means no momentum: value -= lr g.
void descend_by_velocity(const kernels::VelocityDescent& s, real* value, const real* grad, real* velocity, Index n) {
  for_lanes(n, [&](Index i, Index k) {
    const Vec p = load_n(value + i, k);
    Vec g = fma(Vec(s.l2), p, load_n(grad + i, k));
    if (velocity) {
      const Vec moved =
          s.first ? g : flush(fma(Vec(s.weight), g, load_n(velocity + i, k) * Vec(s.momentum)), smallest_normal);
      store_n(moved, velocity + i, k);
      g = s.nesterov ? fma(Vec(s.momentum), moved, g) : moved;
    }
    store_n(fma(Vec(-s.lr), g, p), value + i, k);
  });
}

/// y += share (x - y). If share is at least 0.5, the new y is computed as x + (share - 1) (x - y) instead, so that a
/// share of 1 gives exactly x.
void lerp(const real* x, real share, real* y, Index n) {
  const bool from_y = share < static_cast<real>(0.5);
  const Vec factor(from_y ? share : share - 1);
  for_lanes(n, [&](Index i, Index k) {
    const Vec a = load_n(y + i, k), b = load_n(x + i, k);
    store_n(flush(fma(factor, b - a, from_y ? a : b), smallest_normal), y + i, k);
  });
}

}  // namespace
}  // namespace mote
