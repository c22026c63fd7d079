// Attention's two passes over blocks of queries.
#pragma once

#include <algorithm>

#include "engine/ops/attention_plan.h"

namespace mote::detail {

/// A block of queries [begin, end), at most 16, of head h of batch entry b, and the keys [lo, hi) that any of them
/// sees.
struct Block {
  Index b, h, begin, end, lo, hi;
  Block(const AttentionPlan& p, Index entry, Index head, Index first, Index last)
      : b(entry),
        h(head),
        begin(first),
        end(last),
        lo(p.first(first) / 16 * 16),  // sums over keys run in 16 lanes by absolute position
        hi(p.end(last - 1)) {}
  Index rows() const { return end - begin; }
  Index columns() const { return hi - lo; }
};

/// Weights of a head's blocks before query `end`, as the kernels hold them.
inline Index weights_before(const AttentionPlan& p, Index end) {
  Index count = 0;
  for (Index i = 0; i < end; i += 16) count += 16 * Block(p, 0, 0, i, std::min(i + 16, p.queries)).columns();
  return count;
}
/// Whether forward keeps the weights: where they take no more than q and k, from which backward would compute them
/// again; so memory still grows with Tq + Tk. Backward must cut its queries into the same blocks.
inline bool should_keep_weights(const AttentionPlan& p) {
  AttentionPlan all = p;
  all.window = 0;  // one takes no more memory than none
  return p.queries > 1 && p.keys > 0 && (p.group() == 1 || p.queries % 16 == 0) &&
         weights_before(all, p.queries) <= (p.queries + p.keys) * p.width;
}

/// What forward keeps of a block: its weights, or each query's maximum and sum, from which backward recomputes them.
template <class Real>
struct Kept {
  Real *weights = nullptr, *maxima = nullptr, *sums = nullptr;
  Kept(const AttentionPlan& p, Real* all, const Block& at) {
    if (!all) return;
    all += (at.b * p.heads + at.h) * size(p);
    p.keeps_weights ? weights = all + weights_before(p, at.begin) : maxima = all + at.begin;
    if (maxima) sums = maxima + p.queries;
  }
  /// Elements for a head.
  static Index size(const AttentionPlan& p) { return p.keeps_weights ? weights_before(p, p.queries) : 2 * p.queries; }
};

/// y [B, Tq, H, dv], and what is kept of all blocks. kept, weights and dropped (both [B, H, Tq, Tk] of zeros) may be
/// null.
void attention_forward(const AttentionView& p, real* y, real* kept, real* weights, real* dropped);

/// Rows to fill, as HeadRows: data null where a gradient is not wanted.
struct HeadRowsOut {
  real* data = nullptr;
  Index batch = 0, head = 0, row = 0;
  real* at(Index b, Index h, Index t) const { return data + b * batch + h * head + t * row; }
};
/// Gradients of q, k and v.
struct AttentionGradients {
  HeadRowsOut q, k, v;
};
void attention_backward(const AttentionView& p, const HeadRows& dy, const real* kept, const AttentionGradients& to);

}  // namespace mote::detail
