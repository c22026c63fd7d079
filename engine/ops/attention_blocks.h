// Attention's two passes over blocks of queries.
#pragma once

#include "engine/ops/attention_plan.h"

namespace mote::detail {

/// A block of queries [begin, end), at most 16, of head h of batch entry b, and the keys [lo, hi) that any of them sees.
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

/// Statistics from which backward recomputes the weights, [B, H, 2, Tq]: each query's maximum and sum.
template <class Real>
struct RowStats {
  Real *maxima, *sums;
  RowStats(const AttentionPlan& p, Real* all, const Block& at)
      : maxima(all ? all + (at.b * p.heads + at.h) * 2 * p.queries + at.begin : nullptr),
        sums(all ? maxima + p.queries : nullptr) {}
};

/// y [B, Tq, H, dv], and stats. stats, weights and dropped (both [B, H, Tq, Tk] of zeros) may be null.
void attention_forward(const AttentionView& p, real* y, real* stats, real* weights, real* dropped);

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
void attention_backward(const AttentionView& p, const HeadRows& dy, const real* stats, const AttentionGradients& to);

}  // namespace mote::detail
