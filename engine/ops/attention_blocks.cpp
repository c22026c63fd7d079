// Attention without the [Tq, Tk] matrix: blocks of query rows, forward and backward.
#include "engine/ops/attention_blocks.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/attention_guard.h"

namespace mote::detail {
namespace {

/// s[r, j] = q k^T * scale - alibi for the block: rows of `columns` elements.
void scores(const AttentionView& p, const Block& at, real* s) {
  const Index n = at.columns(), g = at.h / p.group();
  kernels::gemm(at.rows(), n, p.width, {p.q.at(at.b, at.h, at.begin), p.q.row, p.q.column},
                {p.k.at(at.b, g, at.lo), p.k.column, p.k.row}, s, n);
  const kernels::Table& t = kernels::table();
  t.mul(s, 1, &p.scale, 0, s, at.rows() * n);
  if (!p.bias) return;
  // bias[h, Tk - 1 + m] is for a key m positions after its query
  const real* const bias = p.bias + at.h * p.span() + p.keys - 1;
  for (Index r = 0; r < at.rows(); ++r) t.add(s + r * n, 1, bias + at.lo - (at.begin + r + p.shift()), 1, s + r * n, n);
}

/// Converts scores to weights, row by row: `softmax(row, keep, n)` processes one row of n; elements beyond n become 0.
template <class Softmax>
void each_row(const AttentionView& p, const Block& at, real* s, Scratch& scratch, const Softmax& softmax) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const auto [keep, count] = seen_by(p, at, at.begin + r, scratch);
    softmax(s + r * n, keep, count, at.begin + r);
    std::fill(s + r * n + count, s + (r + 1) * n, real(0));
  }
}

/// out = w times the dropout factors of the block's weights: 0 or 1 / (1 - p).
void drop(const AttentionView& p, const Block& at, const real* w, real* out) {
  const Index n = at.columns();
  for (Index r = 0; r < at.rows(); ++r) {
    const Index first = p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo;
    for (Index j = 0; j < n; ++j) {
      const Index bit = first + j;
      const bool kept = !p.drops_all && (p.bits[bit / 8] >> (bit % 8) & 1);
      out[r * n + j] = w[r * n + j] * (kept ? p.kept_scale : real(0));
    }
  }
}

/// c += w^T x: over all rows of queries, in order, this sums the gradient of a key or a value.
void weights_transposed_times(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index width,
                              real* c, Index c_row, Scratch& scratch) {
  if (p.guarded) return guarded_transposed(p, at, w, x, width, c, c_row, scratch);
  const Index n = at.columns();
  kernels::gemm(n, width, at.rows(), {w, 1, n}, {x.at(at.b, at.h, at.begin), x.row, x.column}, c, c_row, true);
}

void weights_times(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index width, real* c,
                   Index c_row, Scratch& scratch) {
  const Index g = at.h / p.group();
  if (p.guarded) return guarded_product(p, at, w, x, g, width, c, c_row, scratch);
  kernels::gemm(at.rows(), width, at.columns(), {w, at.columns(), 1}, {x.at(at.b, g, at.lo), x.row, x.column}, c,
                c_row);
}

/// Copies the block's weights to their places in an array [B, H, Tq, Tk] of zeros.
void copy_block(const AttentionView& p, const Block& at, const real* w, real* all) {
  for (Index r = 0; r < at.rows(); ++r)
    std::copy_n(w + r * at.columns(), at.columns(), all + p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo);
}

}  // namespace

void attention_forward(const AttentionView& p, real* y, real* stats, real* weights, real* dropped) {
  const Index step = rows_at_once(p), blocks = (p.queries + step - 1) / step;
  const Index work = std::max<Index>(1, step * p.keys * (p.width + p.value_width));
  parallel_for(p.batch * p.heads * blocks, std::max<Index>(1, (Index(1) << 17) / work), [&](Index lo, Index hi) {
    Scratch scratch(p);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / blocks / p.heads, h = task / blocks % p.heads, begin = task % blocks * step;
      const Block at(p, b, h, begin, std::min(begin + step, p.queries));
      real* w = scratch.weights();
      scores(p, at, w);
      each_row(p, at, w, scratch, [&](real* row, const std::uint8_t* keep, Index n, Index i) {
        kernels::table().softmax(row, keep, row, stats ? stats + 2 * p.weight_row(b, h, i) : nullptr, n);
      });
      if (weights) copy_block(p, at, w, weights);
      if (p.drops) {
        drop(p, at, w, scratch.dropped());
        w = scratch.dropped();
      }
      if (dropped) copy_block(p, at, w, dropped);
      weights_times(p, at, w, p.v, p.value_width, y + ((b * p.queries + begin) * p.heads + h) * p.value_width,
                    p.heads * p.value_width, scratch);
    }
  });
}

/// dV = P'^T dY, dP = dY V^T, dS = P (dP' - sum(dP' P)) scale, dQ = dS K, dK = dS^T Q, where ' applies dropout.
/// One task processes all queries that attend to one head of k and v, in order, so that every sum has one order.
void attention_backward(const AttentionView& p, const HeadRows& dy, const real* stats, const AttentionGradients& to) {
  const Index step = rows_at_once(p);
  const kernels::Table& t = kernels::table();
  const Index work = std::max<Index>(1, p.group() * p.queries * p.keys * (3 * p.width + 2 * p.value_width));
  parallel_for(p.batch * p.kv_heads, std::max<Index>(1, (Index(1) << 17) / work), [&](Index lo, Index hi) {
    Scratch scratch(p);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / p.kv_heads, g = task % p.kv_heads;
      for (Index h = g * p.group(); h < (g + 1) * p.group(); ++h)
        for (Index begin = 0; begin < p.queries; begin += step) {
          const Block at(p, b, h, begin, std::min(begin + step, p.queries));
          const Index n = at.columns(), rows = at.rows();
          real* const w = scratch.weights();
          scores(p, at, w);
          each_row(p, at, w, scratch, [&](real* row, const std::uint8_t* keep, Index seen, Index i) {
            t.softmax_again(row, keep, stats + 2 * p.weight_row(b, h, i), row, seen);
          });
          if (to.dv) {
            const real* used = w;
            if (p.drops) drop(p, at, w, scratch.dropped()), used = scratch.dropped();
            weights_transposed_times(p, at, used, dy, p.value_width,
                                     to.dv + ((b * p.keys + at.lo) * p.kv_heads + g) * p.value_width,
                                     p.kv_heads * p.value_width, scratch);
          }
          if (!to.dq && !to.dk) continue;
          real* const d = scratch.gradient();
          kernels::gemm(rows, n, p.value_width, {dy.at(b, h, begin), dy.row, dy.column},
                        {p.v.at(b, g, at.lo), p.v.column, p.v.row}, d, n);
          if (p.drops) drop(p, at, d, d);
          if (p.guarded) zero_masked(p, at, d, scratch);
          for (Index r = 0; r < rows; ++r) t.softmax_backward(d + r * n, w + r * n, d + r * n, n);
          t.mul(d, 1, &p.scale, 0, d, rows * n);
          if (to.dq)
            weights_times(p, at, d, p.k, p.width, to.dq + ((b * p.queries + begin) * p.heads + h) * p.width,
                          p.heads * p.width, scratch);
          if (to.dk)
            weights_transposed_times(p, at, d, p.q, p.width, to.dk + ((b * p.keys + at.lo) * p.kv_heads + g) * p.width,
                                     p.kv_heads * p.width, scratch);
        }
    }
  });
}

}  // namespace mote::detail
