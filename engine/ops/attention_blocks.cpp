// Attention without the [Tq, Tk] matrix: blocks of queries, forward and backward.
#include "engine/ops/attention_blocks.h"

#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/base/small_vector.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/attention_guard.h"
#include "engine/ops/attention_scratch.h"

namespace mote::detail {
namespace {

constexpr Index block_rows = 16;  // the kernels' lanes

/// About how long a block of queries takes, per product of widths `columns` in all: for grain_for().
double block_time(const AttentionPlan& p, Index columns) {
  const double pairs = static_cast<double>(block_rows * p.keys) / (p.causal ? 2 : 1);
  return pairs * (0.04 * static_cast<double>(columns) + 0.5);
}

/// Adjacent elements in rows: queries, or gradients of results, of one block.
struct AttentionRows {
  const real* data;
  Index row;
};

/// The block for the kernels, with what its scores and weights need written to memory.
kernels::AttentionBlock prepare(const AttentionView& p, const Block& at, const BlockMemory& m) {
  const Index n = at.columns(), rows = at.rows();
  kernels::AttentionBlock block{rows, n, std::min(n, p.end(at.begin) - at.lo), nullptr};
  if (p.mask || p.window > 0) {
    std::fill_n(m.keep, rows < block_rows ? n * block_rows : 0, std::uint8_t(0));
    for (Index r = 0; r < rows; ++r)
      for (Index j = 0; j < n; ++j) m.keep[j * block_rows + r] = p.sees(at.b, at.h, at.begin + r, at.lo + j);
    block.keep = m.keep;
  }
  if (p.slopes) {  // -slope |distance| of query r and key j, at [r - j]
    const Index first = at.begin + p.shift() - at.lo - (n - 1);
    for (Index i = 0; i < n + block_rows; ++i) m.bias[i] = -p.slopes[at.h] * static_cast<real>(std::abs(first + i));
  }
  if (p.drops) {
    std::fill_n(m.factors, n * block_rows, real(0));
    for (Index r = 0; r < rows && !p.drops_all; ++r) {
      const Index bit = p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo;
      for (Index j = 0; j < n; ++j)
        m.factors[j * block_rows + r] = p.bits[(bit + j) / 8] >> ((bit + j) % 8) & 1 ? p.kept_scale : real(0);
    }
  }
  return block;
}

kernels::AttentionScores scores_of(const AttentionView& p, const Block& at, const BlockMemory& m) {
  return {p.q.at(at.b, at.h, at.begin),
          p.q.row,
          p.k.at(at.b, at.h / p.group(), at.lo),
          p.k.row,
          p.width,
          p.scale,
          p.slopes ? m.bias + at.columns() - 1 : nullptr,
          m.turned};
}

/// The weights after dropout, in place of its factors.
const real* dropped_weights(const AttentionView& p, const Block& at, const BlockMemory& m) {
  if (!p.drops) return m.weights;
  kernels::table().mul(m.weights, 1, m.factors, 1, m.factors, at.columns() * block_rows);
  return m.factors;
}

/// The block's rows of dy; copied where their elements are not adjacent, as in the gradient of a mean.
AttentionRows rows_of_block(const HeadRows& dy, const Block& at, Index width, const BlockMemory& m) {
  if (dy.column == 1 || width <= 1) return {dy.at(at.b, at.h, at.begin), dy.row};
  for (Index r = 0; r < at.rows(); ++r)
    for (Index c = 0; c < width; ++c) m.rows[r * width + c] = dy.at(at.b, at.h, at.begin + r)[c * dy.column];
  return {m.rows, width};
}

/// y = w x, with a row of x per key: a sum over keys, cut into blocks by their positions.
void sum_keys(const AttentionView& p, const Block& at, kernels::AttentionBlock block, const real* w, const HeadRows& x,
              Index width, real* y, Index y_row, Index w_key = block_rows) {
  if (p.guarded) return guarded_sum_keys(p, at, w, x, width, y, y_row);
  const Index n = block.keys, full = block.full;
  Index from = 0;
  do {
    const Index position = p.first_key + at.lo + from;
    block.keys = std::min(n - from, kernels::sum_block - position % kernels::sum_block);
    block.full = full - from;
    kernels::table().attention_sum_keys(
        block, {w + from * w_key, w_key, x.at(at.b, at.h / p.group(), at.lo + from), x.row, width, y, y_row}, from > 0);
    from += block.keys;
  } while (from < n);
}

/// y += w^T x for the block's keys in [lo, hi), with a row of x per query.
void sum_queries(const AttentionView& p, const Block& at, kernels::AttentionBlock block, const real* w,
                 const AttentionRows& x, Index width, const HeadRowsOut& y, Index lo, Index hi) {
  const Index from = std::max(lo, at.lo) - at.lo, to = std::min(hi, at.hi) - at.lo, g = at.h / p.group();
  if (from >= to) return;
  w += from * block_rows;
  real* const first = y.at(at.b, g, at.lo + from);
  if (p.guarded) return guarded_sum_queries(p, at, w, x.data, x.row, width, first, y.row, at.lo + from, at.lo + to);
  block.keys = to - from, block.full -= from;
  kernels::table().attention_sum_queries(block, {w, block_rows, x.data, x.row, width, first, y.row});
}

/// Copies the block's weights to their places in an array [B, H, Tq, Tk] of zeros.
void copy_block(const AttentionView& p, const Block& at, const real* w, real* all) {
  for (Index r = 0; r < at.rows(); ++r)
    for (Index j = 0; j < at.columns(); ++j)
      all[p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo + j] = w[j * block_rows + r];
}

/// One head of k and v while its gradients are summed over all queries that attend to it, which are one sum, head after
/// head: cut into blocks, of which the first grows in place and each other one apart before it is added.
class KeySums {
 public:
  KeySums(const AttentionView& p, const AttentionGradients& to, Index b, Index g, real* apart)
      : p_(p), to_(to), b_(b), g_(g), apart_(apart) {
    clear(to_.k, p_.width);
    clear(to_.v, p_.value_width);
    k = to_.k, v = to_.v;
  }
  /// Call before adding the query at this position of the sum.
  void reach(Index position) {
    if (position == 0 || position % kernels::sum_block != 0) return;
    finish();
    const Index width = p_.width + p_.value_width;
    if (to_.k.data) k = {apart_, 0, 0, width};
    if (to_.v.data) v = {apart_ + p_.width, 0, 0, width};
    is_apart_ = true;
    clear(k, p_.width);
    clear(v, p_.value_width);
  }
  void finish() {
    if (!is_apart_) return;
    add(k, to_.k, p_.width);
    add(v, to_.v, p_.value_width);
  }
  HeadRowsOut k, v;  ///< where to add

 private:
  void clear(const HeadRowsOut& x, Index width) const {
    for (Index j = 0; x.data && j < p_.keys; ++j) std::fill_n(x.at(b_, g_, j), width, real(0));
  }
  void add(const HeadRowsOut& x, const HeadRowsOut& total, Index width) const {
    for (Index j = 0; x.data && j < p_.keys; ++j) {
      real* const row = total.at(b_, g_, j);
      kernels::table().add(row, 1, x.at(b_, g_, j), 1, row, width);
    }
  }
  const AttentionView& p_;
  AttentionGradients to_;
  Index b_, g_;
  real* apart_;
  bool is_apart_ = false;
};

/// What sums over queries need of a block.
struct Sent {
  Block at;
  kernels::AttentionBlock block;
  AttentionRows dy;
  const real *weights, *gradient;
};

/// dP = dY V^T, dS = P (dP' - sum(dP' P)) scale, dQ = dS K, where ' applies dropout; P is recomputed.
Sent send_to_queries(const AttentionView& p, const Block& at, const HeadRows& dy, const real* stats,
                     const AttentionGradients& to, const BlockMemory& m) {
  const kernels::Table& t = kernels::table();
  const kernels::AttentionBlock block = prepare(p, at, m);
  const RowStats rows(p, stats, at);
  t.attention_weights_again(block, scores_of(p, at, m), m.weights, rows.maxima, rows.sums);
  const AttentionRows sent = rows_of_block(dy, at, p.value_width, m);
  if (to.q.data || to.k.data) {
    const real* const v = p.v.at(at.b, at.h / p.group(), at.lo);
    t.attention_score_gradient(block, {sent.data, sent.row, v, p.v.row, p.value_width, p.scale, nullptr, m.turned},
                               m.factors, m.weights, m.gradient);
  }
  if (to.q.data) sum_keys(p, at, block, m.gradient, p.k, p.width, to.q.at(at.b, at.h, at.begin), to.q.row);
  return {at, block, sent, dropped_weights(p, at, m), m.gradient};
}

/// All that one head of k and v receives and sends, `at_once` blocks of queries at a time. dV = P'^T dY, dK = dS^T Q.
void backward_of_head(const AttentionView& p, Index b, Index g, const HeadRows& dy, const real* stats,
                      const AttentionGradients& to, BlocksMemory& memory) {
  KeySums sums(p, to, b, g, memory.apart());
  for (Index h = g * p.group(); h < (g + 1) * p.group(); ++h)
    for (Index begin = 0, end; begin < p.queries; begin = end) {
      const Index position = (h - g * p.group()) * p.queries + begin;
      sums.reach(position);
      end = std::min({p.queries, begin + memory.blocks() * block_rows,
                      begin + kernels::sum_block - position % kernels::sum_block});
      const Index blocks = (end - begin + block_rows - 1) / block_rows;
      SmallVector<std::optional<Sent>, 1, CachedAllocator<std::optional<Sent>>> sent;
      for (Index i = 0; i < blocks; ++i) sent.append();
      parallel_for(blocks, 1, [&](Index lo, Index hi) {
        for (Index i = lo; i < hi; ++i) {
          const Index first = begin + i * block_rows;
          const Block at(p, b, h, first, std::min(first + block_rows, end));
          sent[static_cast<std::size_t>(i)].emplace(send_to_queries(p, at, dy, stats, to, memory.block(i)));
        }
      });
      const Index lo = sent[0]->at.lo, hi = sent[static_cast<std::size_t>(blocks - 1)]->at.hi;
      const Index step = memory.blocks() > 1 ? 4 * block_rows : hi - lo;
      parallel_for((hi - lo + step - 1) / std::max<Index>(step, 1), 1, [&](Index first, Index last) {
        const Index from = lo + first * step, until = std::min(hi, lo + last * step);
        for (Index i = 0; i < blocks; ++i) {
          const Sent& s = *sent[static_cast<std::size_t>(i)];
          const AttentionRows queries{p.q.at(b, h, s.at.begin), p.q.row};
          if (sums.v.data) sum_queries(p, s.at, s.block, s.weights, s.dy, p.value_width, sums.v, from, until);
          if (sums.k.data) sum_queries(p, s.at, s.block, s.gradient, queries, p.width, sums.k, from, until);
        }
      });
    }
  sums.finish();
}

/// A single query, as in generation: lanes are keys.
void one_query(const AttentionView& p, const Block& at, const RowStats<real>& stats, const BlockMemory& m, real* y) {
  const Index n = at.columns();
  real* const w = m.weights;
  kernels::table().attention_scores_of_one(scores_of(p, at, m), n, w);
  const Index position = at.begin + p.shift() - at.lo;
  for (Index j = 0; p.slopes && j < n; ++j) w[j] = w[j] + -p.slopes[at.h] * static_cast<real>(std::abs(position - j));
  const bool hides = p.mask || p.window > 0;
  for (Index j = 0; hides && j < n; ++j) m.keep[j] = p.sees(at.b, at.h, at.begin, at.lo + j);
  real row[2];
  kernels::table().softmax(w, hides ? m.keep : nullptr, w, row, n);
  if (stats.maxima) *stats.maxima = row[0], *stats.sums = row[1];
  sum_keys(p, at, {1, n, n, nullptr}, w, p.v, p.value_width, y, p.value_width, 1);
}

}  // namespace

void attention_forward(const AttentionView& p, real* y, real* stats, real* weights, real* dropped) {
  const Index blocks = (p.queries + block_rows - 1) / block_rows;
  const Index grain = grain_for(block_time(p, p.width + p.value_width));
  parallel_for(p.batch * p.heads * blocks, grain, [&](Index lo, Index hi) {
    BlocksMemory memory(p, false, 1);
    const BlockMemory m = memory.block(0);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / blocks / p.heads, h = task / blocks % p.heads, begin = task % blocks * block_rows;
      const Block at(p, b, h, begin, std::min(begin + block_rows, p.queries));
      const RowStats rows(p, stats, at);
      real* const to = y + ((b * p.queries + begin) * p.heads + h) * p.value_width;
      if (p.queries == 1 && !p.drops && !p.guarded && !weights && !dropped) {
        one_query(p, at, rows, m, to);
        continue;
      }
      const kernels::AttentionBlock block = prepare(p, at, m);
      kernels::table().attention_weights(block, scores_of(p, at, m), m.weights, rows.maxima, rows.sums);
      if (weights) copy_block(p, at, m.weights, weights);
      const real* const used = dropped_weights(p, at, m);
      if (dropped) copy_block(p, at, used, dropped);
      sum_keys(p, at, block, used, p.v, p.value_width, to, p.heads * p.value_width);
    }
  });
}

/// Tasks are heads of keys, or with few of them blocks of queries and then of keys: every sum has one order in both.
void attention_backward(const AttentionView& p, const HeadRows& dy, const real* stats, const AttentionGradients& to) {
  const Index heads = p.batch * p.kv_heads;
  const double block = block_time(p, 3 * p.width + 2 * p.value_width);
  const bool few = heads < 2 * threads() && threads() > 1 && grain_for(block) == 1;
  const double head = block * static_cast<double>(p.group() * p.queries) / block_rows;
  parallel_for(heads, few ? heads : grain_for(head), [&](Index lo, Index hi) {
    BlocksMemory memory(p, true, few ? threads() : 1);
    for (Index task = lo; task < hi; ++task)
      backward_of_head(p, task / p.kv_heads, task % p.kv_heads, dy, stats, to, memory);
  });
}

}  // namespace mote::detail
