// The optimizer steps on contiguous elements. The order of roundings is PyTorch's, operation by operation.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/rows.h"

namespace mote {
namespace {

// Where PyTorch adds a multiple it rounds once (fma): so do these kernels, and the values are equal bit for bit.

/// Flushes values below the smallest normal one to 0. Without gradients (an embedding row whose token does not occur) a
/// moment shrinks to such a value and keeps rounding to it; processors take ten times as long for those. No weight
/// changes.
MOTE_INLINE Vec flush(Vec x) {
  constexpr real smallest = sizeof(real) == 4 ? static_cast<real>(__FLT_MIN__) : static_cast<real>(__DBL_MIN__);
  return select(abs(x) < Vec(smallest), Vec::zero(), x);
}

/// n elements of the gradient, multiplied and stored where that is asked for.
MOTE_INLINE Vec gradient(const kernels::ScaledGrad& grad, Index i, Index n) {
  Vec g = load_n(grad.values + i, n);
  if (!grad.scaled) return g;
  g = g * Vec(grad.scale);
  store_n(g, grad.scaled + i, n);
  return g;
}

/// value *= decay;  g = grad + l2 value;  m = beta1 m + (1 - beta1) g;  v = beta2 v + ((1 - beta2) g) g;
/// value -= (step_size m) / (sqrt(v) / correction2_sqrt + eps).
void adam(const kernels::AdamStep& s, real* value, const kernels::ScaledGrad& grad, real* m, real* v, Index n) {
  for_lanes(n, [&](Index i, Index k) {
    const Vec p = load_n(value + i, k) * Vec(s.decay);
    const Vec g = fma(Vec(s.l2), p, gradient(grad, i, k));
    const Vec mean = flush(fma(Vec(s.one_minus_beta1), g, load_n(m + i, k) * Vec(s.beta1)));
    const Vec square = flush(fma(Vec(s.one_minus_beta2) * g, g, load_n(v + i, k) * Vec(s.beta2)));
    const Vec denominator = sqrt(square) / Vec(s.correction2_sqrt) + Vec(s.eps);
    store_n(mean, m + i, k);
    store_n(square, v + i, k);
    store_n(p - Vec(s.step_size) * mean / one_beyond(denominator, k), value + i, k);
  });
}

/// g = grad + l2 value;  velocity = first ? g : momentum velocity + (1 - dampening) g;
/// value -= lr (nesterov ? g + momentum velocity : velocity). A null velocity means no momentum: value -= lr g.
void sgd(const kernels::SgdStep& s, real* value, const kernels::ScaledGrad& grad, real* velocity, Index n) {
  for_lanes(n, [&](Index i, Index k) {
    const Vec p = load_n(value + i, k);
    Vec g = fma(Vec(s.l2), p, gradient(grad, i, k));
    if (velocity) {
      const Vec moved =
          s.first ? g : flush(fma(Vec(s.one_minus_dampening), g, load_n(velocity + i, k) * Vec(s.momentum)));
      store_n(moved, velocity + i, k);
      g = s.nesterov ? fma(Vec(s.momentum), moved, g) : moved;
    }
    store_n(fma(Vec(-s.lr), g, p), value + i, k);
  });
}

/// y += share (x - y), or from the other end where that is nearer.
void lerp(const real* x, real share, real* y, Index n) {
  const bool from_y = share < static_cast<real>(0.5);
  const Vec factor(from_y ? share : share - 1);
  for_lanes(n, [&](Index i, Index k) {
    const Vec a = load_n(y + i, k), b = load_n(x + i, k);
    store_n(flush(fma(factor, b - a, from_y ? a : b)), y + i, k);
  });
}

}  // namespace
}  // namespace mote
