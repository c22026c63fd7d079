// Attention's backward pass: weights are recomputed block by block, and sums over queries go on from block to block.
#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/attention_pass.h"

namespace mote::detail {
namespace {

/// y += w^T x for the block's keys, with a row of x per query, where masked pairs must be skipped.
void guarded_sum_queries(const AttentionPass& p, const Block& at, const real* w, const HeadView<const real>& x,
                         Index width, const HeadView<real>& y) {
  for (Index r = 0; r < at.rows(); ++r)
    for (Index j = at.lo; j < at.hi; ++j) {
      if (!p.sees(at.b, at.h, at.begin + r, j)) continue;
      const real* const from = x.at(at.b, at.h, at.begin + r);
      real* const to = y.at(at.b, at.h / p.group(), j);
      for (Index c = 0; c < width; ++c) to[c] = std::fma(w[(j - at.lo) * block_rows + r], from[c], to[c]);
    }
}
/// The same; rows of keys from `unset` on are set.
void sum_queries(const AttentionPass& p, const Block& at, const kernels::AttentionBlock& block, const real* w,
                 const HeadView<const real>& x, Index width, const HeadView<real>& y, Index unset) {
  if (!y.data) return;
  if (p.guarded) return guarded_sum_queries(p, at, w, x, width, y);
  real* const first = y.at(at.b, at.h / p.group(), at.lo);
  kernels::table().attention_sum_queries(block, {w, x.at(at.b, at.h, at.begin), x.row, width, first, y.row},
                                         unset - at.lo);
}

/// The gradients of one head of k and v, while the queries of all heads that share it add to them. These additions are
/// one long sum, cut into blocks of sum_block terms as everywhere: the terms of the first are added to the gradients
/// themselves, those of each later one to partial sums, which are added to the gradients when the block is complete.
class KeyGradients {
 public:
  HeadView<real> k, v;  ///< where to add the next terms; data is null where a gradient is not wanted
  Index unset = 0;      ///< the first key whose rows hold nothing yet: whoever comes first sets them

  KeyGradients(const AttentionPass& p, const HeadView<real>& dk, const HeadView<real>& dv, Index b, Index g,
               real* partial)
      : k(dk), v(dv), p_(p), dk_(dk), dv_(dv), b_(b), g_(g), partial_(partial) {
    clear(0, p.guarded ? p.keys : p.block(b, 0, 0, 1).lo);
  }
  /// Call before the term with this number.
  void begin_term(Index number) {
    if (number == 0 || number % kernels::sum_block != 0) return;
    finish();
    const Index width = p_.width + p_.value_width;
    if (k.data) k = {partial_, 0, 0, width};
    if (v.data) v = {partial_ + p_.width, 0, 0, width};
    clear(0, p_.keys);
  }
  /// Adds the last partial sums.
  void finish() {
    clear(unset, p_.keys);
    add(k, dk_, p_.width);
    add(v, dv_, p_.value_width);
  }

 private:
  void clear(Index from, Index end) {
    for (Index j = from; k.data && j < end; ++j) std::fill_n(k.at(b_, g_, j), p_.width, real(0));
    for (Index j = from; v.data && j < end; ++j) std::fill_n(v.at(b_, g_, j), p_.value_width, real(0));
    unset = end;
  }
  void add(const HeadView<real>& x, const HeadView<real>& total, Index width) const {
    if (x.data == total.data) return;  // no partial sums yet
    for (Index j = 0; j < p_.keys; ++j) {
      real* const row = total.at(b_, g_, j);
      kernels::table().add(row, 1, x.at(b_, g_, j), 1, row, width);
    }
  }
  const AttentionPass& p_;
  HeadView<real> dk_, dv_;
  Index b_, g_;
  real* partial_;
};

/// dP = dy V^T, dS = P (dP' - sum(dP' P)) scale, dQ = dS K; dV += P'^T dy, dK += dS^T Q, where ' applies dropout.
void backward_of_block(const AttentionPass& p, const Block& at, const HeadView<const real>& dy, const real* saved,
                       const HeadView<real>& dq, KeyGradients& keys, const BlockMemory& m) {
  const kernels::Table& t = kernels::table();
  const kernels::AttentionBlock block = prepare(p, at, m);
  const SavedBlock<const real> of_block(p, saved, at);
  if (!of_block.weights) t.attention_recompute_weights(block, m.weights, of_block.maxima, of_block.sums);
  const real* const w = of_block.weights ? of_block.weights : m.weights;
  if (dq.data || keys.k.data) {
    const real *const g = dy.at(at.b, at.h, at.begin), *const v = p.v.at(at.b, at.h / p.group(), at.lo);
    t.attention_score_gradient(block, {g, dy.row, v, p.v.row, p.value_width}, m.dropout, w, m.gradient);
  }
  if (dq.data) sum_keys(p, at, block, m.gradient, p.k, p.width, dq.at(at.b, at.h, at.begin), dq.row);
  sum_queries(p, at, block, apply_dropout(block, w, m.dropout), dy, p.value_width, keys.v, keys.unset);
  sum_queries(p, at, block, m.gradient, p.q, p.width, keys.k, keys.unset);
  keys.unset = std::max(keys.unset, at.hi);
}

}  // namespace

void attention_backward(AttentionPass& p, const HeadView<const real>& dy, const real* saved, const HeadView<real>& dq,
                        const HeadView<real>& dk, const HeadView<real>& dv) {
  p.guarded = p.masks_pairs() && !(all_finite(p.q, p.batch, p.heads, p.queries, p.width) &&
                                   all_finite(p.k, p.batch, p.kv_heads, p.keys, p.width) &&
                                   all_finite(dy, p.batch, p.heads, p.queries, p.value_width));
  const double blocks_of_head = static_cast<double>(p.group() * p.queries) / block_rows;
  const double head = block_time(p, 3 * p.width + 2 * p.value_width) * blocks_of_head;
  parallel_for(p.batch * p.kv_heads, grain_for(head), [&](Index lo, Index hi) {
    const BlockMemory memory(p, true);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / p.kv_heads, g = task % p.kv_heads;
      KeyGradients keys(p, dk, dv, b, g, memory.partial);
      for (Index h = g * p.group(); h < (g + 1) * p.group(); ++h)
        for (Index begin = 0, end; begin < p.queries; begin = end) {
          const Index term = (h - g * p.group()) * p.queries + begin;
          keys.begin_term(term);
          end = std::min({p.queries, begin + block_rows, begin + kernels::sum_block - term % kernels::sum_block});
          backward_of_block(p, p.block(b, h, begin, end), dy, saved, dq, keys, memory);
        }
      keys.finish();
    }
  });
}

}  // namespace mote::detail
