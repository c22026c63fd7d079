// Keeps NaN and infinity from crossing a mask: when attention needs this, and the slow products it then uses.
#pragma once

#include "engine/ops/attention_blocks.h"

namespace mote::detail {

// A masked pair has a weight of 0, and its scores and gradients are never used. But the fast products run over whole
// blocks, masked pairs included, and 0 times NaN or infinity is NaN; so is 0 times a huge value that overflowed on the
// way. A NaN in a later token, or in fully masked padding, would then reach every query. So each pass scans its inputs
// once, and if there are both masked pairs and harmful elements, it skips masked pairs one by one, in the order of the
// fast products: queries that do not see a harmful element get the same bits.

/// Whether forward needs the guard: it multiplies keys and values by weights.
bool forward_needs_guard(const AttentionView& p);
/// Whether backward needs it, which also multiplies queries and dy.
bool backward_needs_guard(const AttentionView& p, const HeadRows& dy);

/// c = w x for the block's weights w [rows, columns] and a row of x per key, of head `head`.
void guarded_product(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index head, Index width,
                     real* c, Index c_row, Scratch& scratch);
/// c += w^T x, with a row of x per query of the block.
void guarded_transposed(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index width, real* c,
                        Index c_row, Scratch& scratch);
/// Sets the masked pairs of w [rows, columns] to 0, whatever their values.
void zero_masked(const AttentionView& p, const Block& at, real* w, Scratch& scratch);

}  // namespace mote::detail
