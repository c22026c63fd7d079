// Attention's backward pass. Weights that were not saved are recomputed for one block of queries at a time. Sums over
// queries continue from block to block.
#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/attention_pass.h"

namespace mote::detail {
namespace {

/// The gradients of one head of k and v, to which each block of queries adds. `data` is null for a gradient that is
/// not wanted.
struct KeyGradients {
  HeadView<real> k, v;
  Index unset = 0;  // gradient rows from key `unset` on hold no sum yet, so a block sets them instead of adding
};

/// y += w^T x for one block: w [queries, keys], x [queries, width], y [keys, width]. Masked pairs of a query and a key
/// are skipped one by one.
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
/// y += w^T x for one block. A guarded pass (see AttentionPass::masks_pairs) skips masked pairs one by one, and any
/// other pass uses the kernel. The kernel sets the rows of y from key `unset` on, instead of adding to them.
void sum_queries(const AttentionPass& p, const Block& at, const kernels::AttentionBlock& block, const real* w,
                 const HeadView<const real>& x, Index width, const HeadView<real>& y, Index unset) {
  if (!y.data) return;
  if (p.guarded) return guarded_sum_queries(p, at, w, x, width, y);
  real* const first = y.at(at.b, at.h / p.group(), at.lo);
  kernels::table().attention_sum_queries(block, {w, x.at(at.b, at.h, at.begin), x.row, width, first, y.row},
                                         unset - at.lo);
}

/// Computes the gradients of one block of queries: dP = dy V^T, dS = P (dP' - sum(dP' P)) scale, dQ = dS K,
/// dV += P'^T dy, dK += dS^T Q. S are the dot products of queries and keys, P are the weights, and ' marks a matrix
/// after dropout.
void backward_of_block(const AttentionPass& p, const Block& at, const HeadView<const real>& dy, const real* saved,
                       const HeadView<real>& dq, KeyGradients& to, const BlockMemory& m) {
  const kernels::Table& t = kernels::table();
  const kernels::AttentionBlock block = prepare(p, at, m);
  const SavedBlock<const real> kept(p, saved, at);
  if (!kept.weights) t.attention_recompute_weights(block, m.weights, kept.maxima, kept.sums);
  const real* const w = kept.weights ? kept.weights : m.weights;
  if (dq.data || to.k.data) {
    const real *const g = dy.at(at.b, at.h, at.begin), *const v = p.v.at(at.b, at.h / p.group(), at.lo);
    t.attention_score_gradient(block, {g, dy.row, v, p.v.row, p.value_width}, m.dropout, w, m.gradient);
  }
  if (dq.data) sum_keys(p, at, block, m.gradient, p.k, p.width, dq.at(at.b, at.h, at.begin), dq.row);
  sum_queries(p, at, block, apply_dropout(block, w, m.dropout), dy, p.value_width, to.v, to.unset);
  sum_queries(p, at, block, m.gradient, p.q, p.width, to.k, to.unset);
  to.unset = std::max(to.unset, at.hi);
}

/// Computes the gradients of one head of keys and values. The gradients are sums over the queries of all heads that
/// share this head. Like every long sum, these sums are cut into blocks of sum_block terms. The first block is summed
/// in the gradients themselves. Each later block is summed in separate memory and then added.
void backward_of_keys(const AttentionPass& p, Index b, Index g, const HeadView<const real>& dy, const real* saved,
                      const HeadView<real>& dq, const KeyGradients& total, const BlockMemory& m) {
  const auto clear = [&](const KeyGradients& x, Index from, Index end) {
    for (Index j = from; x.k.data && j < end; ++j) std::fill_n(x.k.at(b, g, j), p.width, real(0));
    for (Index j = from; x.v.data && j < end; ++j) std::fill_n(x.v.at(b, g, j), p.value_width, real(0));
  };
  const auto add = [&](const HeadView<real>& x, const HeadView<real>& to, Index width) {
    for (Index j = 0; to.data && j < p.keys; ++j) {
      real* const y = to.at(b, g, j);
      kernels::table().add(y, 1, x.at(b, g, j), 1, y, width);
    }
  };
  const Index row = p.width + p.value_width, terms = p.group() * p.queries;
  const auto row_of_partial = [&](const HeadView<real>& x, Index column) {
    return HeadView<real>{x.data && m.partial ? m.partial + column : nullptr, 0, 0, row};
  };
  const KeyGradients apart{row_of_partial(total.k, 0), row_of_partial(total.v, p.width)};
  for (Index sum = 0; sum == 0 || sum < terms; sum += kernels::sum_block) {
    KeyGradients to = sum == 0 ? total : apart;
    to.unset = sum > 0 || p.guarded ? p.keys : p.block(b, 0, 0, 1).lo;
    clear(to, 0, to.unset);
    const Index end = std::min(sum + kernels::sum_block, terms);
    for (Index term = sum, rows = 0; term < end; term += rows) {
      const Index h = g * p.group() + term / p.queries, begin = term % p.queries;
      rows = std::min({block_rows, p.queries - begin, end - term});
      backward_of_block(p, p.block(b, h, begin, begin + rows), dy, saved, dq, to, m);
    }
    clear(to, to.unset, p.keys);
    if (sum == 0) continue;
    add(apart.k, total.k, p.width);
    add(apart.v, total.v, p.value_width);
  }
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
    for (Index task = lo; task < hi; ++task)
      backward_of_keys(p, task / p.kv_heads, task % p.kv_heads, dy, saved, dq, {dk, dv}, memory);
  });
}

}  // namespace mote::detail
