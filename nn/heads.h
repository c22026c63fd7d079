// The parts that the attention layers share: the checks of their sizes, and the output of a call with its weights.
#pragma once

#include "engine/ops/attention.h"
#include "engine/ops/view.h"

namespace mote {

/// Checks the sizes of an attention layer, and returns its number of heads of keys and values. This is n_kv_head, or
/// `heads` if n_kv_head is 0. Errors, in the name of `who`: a width or `heads` below 1; a width that `heads` does not
/// divide; `heads` that n_kv_head does not divide; a block_size below 0; a mask in the options, because a mask belongs
/// to a call; the errors of AttentionOptions::require().
inline Index checked_heads(const char* who, Index width, Index heads, Index n_kv_head, Index block_size,
                           const AttentionOptions& options) {
  check_in(who, width >= 1, "width ", width, " must be at least 1");
  check_in(who, heads >= 1, "heads ", heads, " must be at least 1");
  check_in(who, width <= Shape::max_numel, "width ", width, " must be at most ", Shape::max_numel);
  check_in(who, width % heads == 0, "width ", width, " is not divisible by ", heads, " heads");
  const Index shared = n_kv_head != 0 ? n_kv_head : heads;
  check_in(who, shared >= 1 && heads % shared == 0, "n_kv_head ", n_kv_head, " must divide the ", heads,
           " heads, or be 0 for as many");
  check_in(who, block_size >= 0, "block_size ", block_size, " must be at least 0 (0: any length)");
  check_in(who, !options.mask.defined(), "the options have a mask, but a mask is for one call: pass it to the call");
  options.require(who);
  return shared;
}

/// A layer's output and the weights [B, H, Tq, Tk] of its attention, before and after dropout (equal while nothing is
/// dropped). The weights are for inspection: no gradient flows through them.
struct AttentionOutput {
  Tensor output;
  Array weights, dropped_weights;
};

}  // namespace mote
