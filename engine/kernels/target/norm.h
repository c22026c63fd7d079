// Layer norm and RMS norm over contiguous rows, and their gradients.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/rows.h"

namespace mote {
namespace {

// The sum of each row ends in a tree of additions and a division, and a short row cannot hide their latency. So rows
// run in groups. The trees of a group overlap, one vector operation divides for all rows of the group, and the
// group's elements stay in the L1 cache.

constexpr Index group_rows = Vec::lanes;
MOTE_INLINE Index rows_of_group(Index left, Index n) {
  Index count = 4096 / n < 1 ? 1 : 4096 / n;
  count = count < group_rows ? count : group_rows;
  return count < left ? count : left;
}

/// The mean of each row of a group, computed as x[0] + sum(x - x[0]) / n. If all elements of a row are equal, this
/// mean is exactly their value, while sum(x) / n may differ by rounding.
MOTE_INLINE Vec means(const real* x, Index count, Index n) {
  real first[group_rows] = {}, sums[group_rows] = {};
  for (Index r = 0; r < count; ++r) {
    const real* const row = x + r * n;
    const Vec start(row[0]);
    Vec total = Vec::zero();
    for_lanes(n, [&](Index i, Index m) { total += zero_beyond(load_n(row + i, m) - start, m); });
    first[r] = row[0];
    sums[r] = sum_tree(total);
  }
  return Vec::load(first) + Vec::load(sums) / Vec(static_cast<real>(n));
}

/// The power of two whose product with `largest` lies in [2, 4). `largest` must be finite and above 0. If `largest`
/// is subnormal, the product is below 2.
MOTE_INLINE real power_to_two(real largest) {
  using C = Constants<real>;
  const C::UInt exponent = __builtin_bit_cast(C::UInt, largest) >> C::mantissa, wanted = 2 * C::bias + 1 - exponent;
  return __builtin_bit_cast(real, (wanted < 2 * C::bias ? wanted : 2 * C::bias) << C::mantissa);
}

/// The statistics of a row whose elements are multiplied by `factor` before their squares are summed. `mean` and
/// `inverse` = 1 / sqrt(var + eps factor^2) are computed from the multiplied elements.
struct ScaledStats {
  real factor, mean, inverse;
};

/// The statistics of a row whose squares overflow or underflow. The factor is 0 if the row needs no factor or is not
/// finite.
template <bool centred>
__attribute__((noinline)) ScaledStats scaled_stats(const real* x, real eps, Index n) {
  Vec largest = Vec::zero();
  for_lanes(n, [&](Index i, Index m) { largest = maximum(largest, abs(zero_beyond(load_n(x + i, m), m))); });
  const real size = max_tree(largest);
  if (!(size > 0 && size < infinity)) return {};

  const real factor = power_to_two(size), scaled_eps = eps * factor * factor;
  if (!(scaled_eps < infinity)) return {};  // the squares are negligible beside eps

  const Vec f(factor), start(x[0] * factor);
  Vec total = Vec::zero();
  if (centred) for_lanes(n, [&](Index i, Index m) { total += zero_beyond(load_n(x + i, m) * f - start, m); });
  const real mean = centred ? x[0] * factor + sum_tree(total) / static_cast<real>(n) : real(0);

  Vec squares = Vec::zero();
  for_lanes(n, [&](Index i, Index m) {
    const Vec d = zero_beyond(load_n(x + i, m) * f - Vec(mean), m);
    squares = fma(d, d, squares);
  });
  real inverse[Vec::lanes];
  (Vec(1) / sqrt(Vec(sum_tree(squares) / static_cast<real>(n) + scaled_eps))).store(inverse);
  return {factor, mean, inverse[0]};
}

/// y = (x - m) / sqrt(mean((x - m)^2) + eps) * weight + bias, where m is the mean of the row. An RMS norm, which is
/// not `centred`, uses m = 0.
template <bool centred>
void norm(const real* x, const kernels::NormWeights& weights, real* y, real* stats, Index rows, Index n) {
  const real *const weight = weights.weight, *const bias = weights.bias;
  const auto write = [&](const real* row, const auto& normalized, real* out) {
    for_lanes(n, [&](Index i, Index m) {
      Vec v = normalized(load_n(row + i, m));
      if (weight) v = v * load_n(weight + i, m);
      if (bias) v += load_n(bias + i, m);
      store_n(v, out + i, m);
    });
  };
  // If variance + eps is below `least`, the squares of single elements may have lost digits by underflow.
  constexpr real least = Constants<real>::smallest_normal * Constants<real>::two_mantissa * 2;
  for (Index r0 = 0; r0 < rows;) {
    const Index count = rows_of_group(rows - r0, n);
    const real* const in = x + r0 * n;
    real mean[group_rows] = {}, inverse[group_rows], squares[group_rows];
    if (centred) means(in, count, n).store(mean);
    Vec(1).store(squares);  // lanes without a row must not divide by 0
    for (Index r = 0; r < count; ++r) squares[r] = sum_squared_difference(in + r * n, mean[r], n);
    const Vec variance = Vec::load(squares) / Vec(static_cast<real>(n));  // biased, from a second pass over x
    const Vec inside = variance + Vec(weights.eps);
    (Vec(1) / sqrt(inside)).store(inverse);
    const bool in_range = !any(~((Vec(least) <= inside) & (inside < Vec(infinity))));
    for (Index r = 0; r < count; ++r, ++r0) {
      const real* const row = in + r * n;
      real* const out = y + r0 * n;
      const ScaledStats scaled = in_range ? ScaledStats{} : scaled_stats<centred>(row, weights.eps, n);
      if (scaled.factor != 0) {
        stats[2 * r0] = scaled.mean / scaled.factor;
        stats[2 * r0 + 1] = scaled.inverse * scaled.factor;
        write(
            row, [&](Vec v) { return (v * Vec(scaled.factor) - Vec(scaled.mean)) * Vec(scaled.inverse); }, out);
        continue;
      }
      stats[2 * r0] = mean[r];
      stats[2 * r0 + 1] = inverse[r];
      const Vec shift(mean[r]), scale(inverse[r]);
      write(
          row, [&](Vec v) { return (centred ? v - shift : v) * scale; }, out);
    }
  }
}

/// The normalized x: (x - mean) * scale for a layer norm, or x * scale for an RMS norm. If the row is `huge`, x - mean
/// may overflow, so a quarter of x - mean is computed and multiplied by 4 at the end.
template <bool centred, bool huge>
MOTE_INLINE Vec normalized(Vec x, Vec mean, Vec scale) {
  if (!centred) return x * scale;
  if (!huge) return (x - mean) * scale;
  const Vec quarter(static_cast<real>(0.25));
  return (x * quarter - mean * quarter) * scale * Vec(4);
}

/// One row of a group: its elements, and the statistics and means that its gradient needs.
struct NormRow {
  const real *dy, *x;
  real* dx;
  Vec mean, scale, mean_g, mean_gh;
};

/// Computes dx of `count` rows, and adds their terms to d_weight and d_bias in the order of the rows. d_weight and
/// d_bias are loaded and stored only once for all `count` rows.
template <bool centred, bool huge, int count>
MOTE_INLINE void norm_gradients(const NormRow (&rows)[count], const real* weight, real* d_weight, real* d_bias,
                                Index n) {
  for_lanes(n, [&](Index i, Index m) {
    const Vec w = weight ? load_n(weight + i, m) : Vec(1);
    Vec of_weight = d_weight ? load_n(d_weight + i, m) : Vec::zero();
    Vec of_bias = d_bias ? load_n(d_bias + i, m) : Vec::zero();
    for (const NormRow& row : rows) {
      const Vec d = load_n(row.dy + i, m);
      const Vec h = normalized<centred, huge>(load_n(row.x + i, m), row.mean, row.scale);
      of_weight = fma(d, h, of_weight);
      of_bias += d;
      if (!row.dx) continue;
      const Vec g = d * w;
      store_n(row.scale * ((centred ? g - row.mean_g : g) - h * row.mean_gh), row.dx + i, m);
    }
    if (d_weight) store_n(of_weight, d_weight + i, m);
    if (d_bias) store_n(of_bias, d_bias + i, m);
  });
}

/// dx = inv_std (g - mean(g) - h mean(g h)), where g = dy weight and h is the normalized x. For an RMS norm, mean(g)
/// is left out. Adds dy h to d_weight and dy to d_bias, row after row. Each output may be null.
template <bool centred, bool huge>
void norm_backward_of(const kernels::NormInputs& in, const kernels::NormGradients& out, Index rows, Index n) {
  for (Index r0 = 0; r0 < rows;) {
    const Index group = rows_of_group(rows - r0, n);
    real mean_g[group_rows] = {}, mean_gh[group_rows] = {};
    for (Index r = 0; r < group && out.dx; ++r) {
      const real *const dy = in.dy + (r0 + r) * n, *const x = in.x + (r0 + r) * n;
      const Vec mean(in.stats[2 * (r0 + r)]), scale(in.stats[2 * (r0 + r) + 1]);
      Vec sum_g = Vec::zero(), sum_gh = Vec::zero();
      for_lanes(n, [&](Index i, Index m) {
        const Vec d = load_n(dy + i, m), g = in.weight ? d * load_n(in.weight + i, m) : d;
        if (centred) sum_g += g;
        sum_gh = fma(g, zero_beyond(normalized<centred, huge>(load_n(x + i, m), mean, scale), m), sum_gh);
      });
      if (centred) mean_g[r] = sum_tree(sum_g);
      mean_gh[r] = sum_tree(sum_gh);
    }
    const Vec divisor(static_cast<real>(n));
    (Vec::load(mean_g) / divisor).store(mean_g);
    (Vec::load(mean_gh) / divisor).store(mean_gh);
    const auto row = [&](Index r) {
      const Index at = r0 + r;
      return NormRow{in.dy + at * n,   in.x + at * n,        out.dx ? out.dx + at * n : nullptr,
                     in.stats[2 * at], in.stats[2 * at + 1], mean_g[r],
                     mean_gh[r]};
    };
    Index r = 0;
    for (; r + 4 <= group; r += 4)
      norm_gradients<centred, huge, 4>({row(r), row(r + 1), row(r + 2), row(r + 3)}, in.weight, out.d_weight,
                                       out.d_bias, n);
    for (; r < group; ++r) norm_gradients<centred, huge, 1>({row(r)}, in.weight, out.d_weight, out.d_bias, n);
    r0 += group;
  }
}
template <bool centred>
void norm_backward(const kernels::NormInputs& in, const kernels::NormGradients& out, Index rows, Index n) {
  constexpr real of_huge = Constants<real>::smallest_normal * 16;
  bool huge = false;
  for (Index r = 0; r < rows; ++r) huge |= in.stats[2 * r + 1] < of_huge;
  huge ? norm_backward_of<centred, centred>(in, out, rows, n) : norm_backward_of<centred, false>(in, out, rows, n);
}

}  // namespace
}  // namespace mote
