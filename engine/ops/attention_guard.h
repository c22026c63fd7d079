// Keeps NaN and infinity from crossing a mask: when attention needs this, and the slow sums that it then uses.
#pragma once

#include "engine/ops/attention_blocks.h"

namespace mote::detail {

// Pairs that causality alone hides are never multiplied. One that a mask or a window hides has a weight of 0, and its
// scores and gradients are never used; but the fast sums run over all keys of a block, and 0 times NaN or infinity is
// NaN; so is 0 times a huge value that overflowed on the way. A NaN in fully masked padding would then reach every
// query. So with a mask or a window each pass scans its inputs once, and if there are harmful elements, it skips masked
// pairs one by one, in the order of the fast sums: queries that do not see a harmful element get the same bits.

/// Whether forward needs the guard: it multiplies values by weights.
bool forward_needs_guard(const AttentionView& p);
/// Whether backward needs it, which also multiplies keys, queries and dy.
bool backward_needs_guard(const AttentionView& p, const HeadRows& dy);

/// y = w x for the block's weights and a row of x per key.
void guarded_sum_keys(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index width, real* y,
                      Index y_row);
/// y += w^T x for the keys [lo, hi), the first of which w and y begin with, and a row of x per query.
void guarded_sum_queries(const AttentionView& p, const Block& at, const real* w, const real* x, Index x_row,
                         Index width, real* y, Index y_row, Index lo, Index hi);

}  // namespace mote::detail
