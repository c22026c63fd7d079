// What keeps NaN and infinity from crossing a mask: when attention needs it, and the slow products it then takes.
#pragma once

#include "engine/ops/attention_blocks.h"

namespace mote::detail {

// A masked pair has a weight of 0, and its scores and gradients are never used. But the fast products run over whole
// blocks, masked pairs included, and 0 times NaN or infinity is NaN; so is 0 times a huge number that overflowed on its
// way. A NaN in a later token, or in padding that nobody may look at, would then reach everybody. So each pass looks at
// its inputs once, and where something is masked and something is harmful, it leaves masked pairs out one by one, in
// the order of the fast products: the same bits for whoever does not see the harmful element.

/// Whether forward must guard: it multiplies keys and values by weights.
bool forward_needs_guard(const AttentionView& p);
/// Whether backward must, which also multiplies queries and dy.
bool backward_needs_guard(const AttentionView& p, const HeadRows& dy);

/// c = w x for the block's weights w [rows, columns] and a row of x per key, of head `head`.
void guarded_product(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index head, Index width,
                     real* c, Index c_row, Scratch& scratch);
/// c += w^T x, with a row of x per query of the block.
void guarded_transposed(const AttentionView& p, const Block& at, const real* w, const HeadRows& x, Index width, real* c,
                        Index c_row, Scratch& scratch);
/// Sets what w [rows, columns] has for masked pairs to 0, whatever lies there.
void zero_masked(const AttentionView& p, const Block& at, real* w, Scratch& scratch);

}  // namespace mote::detail
