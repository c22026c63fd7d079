// Attention's backward pass: weights are recomputed block by block, and sums over queries go on from block to block.
#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/base/small_vector.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/attention_block.h"
#include "engine/ops/attention_guard.h"

namespace mote::detail {
namespace {

/// Adjacent elements in rows: queries, or gradients of results, of one block.
struct AttentionRows {
  const real* data;
  Index row;
};

/// The block's rows of dy; copied where their elements are not adjacent, as in the gradient of a mean.
AttentionRows rows_of_block(const HeadRows& dy, const Block& at, Index width, const BlockMemory& m) {
  if (dy.column == 1 || width <= 1) return {dy.at(at.b, at.h, at.begin), dy.row};
  for (Index r = 0; r < at.rows(); ++r)
    for (Index c = 0; c < width; ++c) m.rows[r * width + c] = dy.at(at.b, at.h, at.begin + r)[c * dy.column];
  return {m.rows, width};
}

/// y += w^T x for the block's keys in [lo, hi), with a row of x per query; y of keys from `fresh` on holds no sum yet.
void sum_queries(const AttentionView& p, const Block& at, kernels::AttentionBlock block, const real* w,
                 const AttentionRows& x, Index width, const HeadRowsOut& y, Index lo, Index hi, Index fresh) {
  const Index from = std::max(lo, at.lo) - at.lo, to = std::min(hi, at.hi) - at.lo, g = at.h / p.group();
  if (from >= to) return;
  w += from * block_rows;
  real* const first = y.at(at.b, g, at.lo + from);
  if (p.guarded) return guarded_sum_queries(p, at, w, x.data, x.row, width, first, y.row, at.lo + from, at.lo + to);
  block.keys = to - from, block.full -= from;
  kernels::table().attention_sum_queries(block, {w, block_rows, x.data, x.row, width, first, y.row},
                                         fresh - at.lo - from);
}

/// One head of k and v while its gradients are summed over all queries that attend to it, which are one sum, head after
/// head: cut into blocks, of which the first grows in place and each other one apart before it is added.
class KeySums {
 public:
  KeySums(const AttentionView& p, const AttentionGradients& to, Index b, Index g, real* apart)
      : k(to.k), v(to.v), p_(p), to_(to), b_(b), g_(g), apart_(apart) {
    clear(0, p.guarded ? p.keys : Block(p, b, 0, 0, 1).lo);  // what a kernel writes first needs not be cleared
  }
  /// Call before adding the query at this position of the sum.
  void reach(Index position) {
    if (position == 0 || position % kernels::sum_block != 0) return;
    clear(fresh_, p_.keys);  // of the first block, before others are added
    finish();
    const Index width = p_.width + p_.value_width;
    if (to_.k.data) k = {apart_, 0, 0, width};
    if (to_.v.data) v = {apart_ + p_.width, 0, 0, width};
    is_apart_ = true;
    clear(0, p_.keys);
  }
  /// Keys before this one hold sums, or 0, when the first of these blocks' sums is added.
  Index fresh() const { return fresh_; }
  void added(const Block& last) { fresh_ = std::max(fresh_, last.hi); }
  void finish() {
    if (!is_apart_) return;
    add(k, to_.k, p_.width);
    add(v, to_.v, p_.value_width);
  }
  HeadRowsOut k, v;  ///< where to add

 private:
  /// Rows of keys [from, end) become 0.
  void clear(Index from, Index end) {
    for (Index j = from; k.data && j < end; ++j) std::fill_n(k.at(b_, g_, j), p_.width, real(0));
    for (Index j = from; v.data && j < end; ++j) std::fill_n(v.at(b_, g_, j), p_.value_width, real(0));
    fresh_ = end;
  }
  void add(const HeadRowsOut& x, const HeadRowsOut& total, Index width) const {
    for (Index j = 0; x.data && j < p_.keys; ++j) {
      real* const row = total.at(b_, g_, j);
      kernels::table().add(row, 1, x.at(b_, g_, j), 1, row, width);
    }
  }
  const AttentionView& p_;
  AttentionGradients to_;
  Index b_, g_, fresh_ = 0;
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

/// dP = dY V^T, dS = P (dP' - sum(dP' P)) scale, dQ = dS K, where ' applies dropout.
Sent send_to_queries(const AttentionView& p, const Block& at, const HeadRows& dy, const real* kept,
                     const AttentionGradients& to, const BlockMemory& m) {
  const kernels::Table& t = kernels::table();
  const kernels::AttentionBlock block = prepare(p, at, m);
  const Kept of_block(p, kept, at);
  const real* w = of_block.weights;
  if (!w)
    t.attention_weights_again(block, scores_of(p, at, m), m.weights, of_block.maxima, of_block.sums), w = m.weights;
  const AttentionRows sent = rows_of_block(dy, at, p.value_width, m);
  if (to.q.data || to.k.data) {
    const real* const v = p.v.at(at.b, at.h / p.group(), at.lo);
    t.attention_score_gradient(block, {sent.data, sent.row, v, p.v.row, p.value_width, p.scale, nullptr, m.turned},
                               m.factors, w, m.gradient);
  }
  if (to.q.data) sum_keys(p, at, block, m.gradient, p.k, p.width, to.q.at(at.b, at.h, at.begin), to.q.row);
  return {at, block, sent, dropped_weights(p, at, m, w), m.gradient};
}

/// All that one head of k and v receives and sends, `at_once` blocks of queries at a time. dV = P'^T dY, dK = dS^T Q.
void backward_of_head(const AttentionView& p, Index b, Index g, const HeadRows& dy, const real* kept,
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
          sent[static_cast<std::size_t>(i)].emplace(send_to_queries(p, at, dy, kept, to, memory.block(i)));
        }
      });
      const Index lo = sent[0]->at.lo, hi = sent[static_cast<std::size_t>(blocks - 1)]->at.hi;
      const Index step = memory.blocks() > 1 ? 4 * block_rows : hi - lo;
      parallel_for((hi - lo + step - 1) / std::max<Index>(step, 1), 1, [&](Index first, Index last) {
        const Index from = lo + first * step, until = std::min(hi, lo + last * step);
        Index fresh = sums.fresh();
        for (Index i = 0; i < blocks; ++i) {
          const Sent& s = *sent[static_cast<std::size_t>(i)];
          const AttentionRows queries{p.q.at(b, h, s.at.begin), p.q.row};
          if (sums.v.data) sum_queries(p, s.at, s.block, s.weights, s.dy, p.value_width, sums.v, from, until, fresh);
          if (sums.k.data) sum_queries(p, s.at, s.block, s.gradient, queries, p.width, sums.k, from, until, fresh);
          fresh = std::max(fresh, s.at.hi);
        }
      });
      sums.added(sent[static_cast<std::size_t>(blocks - 1)]->at);
    }
  sums.finish();
}

}  // namespace

/// Tasks are heads of keys, or with few of them blocks of queries and then of keys: every sum has one order in both.
void attention_backward(const AttentionView& p, const HeadRows& dy, const real* kept, const AttentionGradients& to) {
  const Index heads = p.batch * p.kv_heads;
  const double block = block_time(p, 3 * p.width + 2 * p.value_width);
  const bool few = heads < 2 * threads() && threads() > 1 && grain_for(block) == 1;
  const double head = block * static_cast<double>(p.group() * p.queries) / block_rows;
  parallel_for(heads, few ? heads : grain_for(head), [&](Index lo, Index hi) {
    BlocksMemory memory(p, true, few ? std::max(threads(), 4) : 1);
    for (Index task = lo; task < hi; ++task)
      backward_of_head(p, task / p.kv_heads, task % p.kv_heads, dy, kept, to, memory);
  });
}

}  // namespace mote::detail
