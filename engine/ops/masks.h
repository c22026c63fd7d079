// Masks for attention: causal, padding, and converted from masks in which true means blocked. Also the slopes of
// ALiBi.
#pragma once

#include <vector>

#include "engine/array/mask.h"
#include "engine/autograd/op.h"

namespace mote {

/// The causal mask [queries, keys], true where the position of the key is at most that of the query. With a `window`
/// above 0, only the last `window` of these keys are true. With more keys than queries, the queries are the last
/// positions. Errors: fewer keys than queries, a window below 0.
Mask causal_mask(Integer queries, Integer keys, Integer window = 0);
inline Mask causal_mask(Integer length) { return causal_mask(length, length); }

/// The mask of a batch of padded rows: true for the first lengths[b] of the `longest` keys of row b. Its shape
/// [B, 1, 1, longest] broadcasts over heads and queries. Errors: a length outside [0, longest].
Mask padding_mask(const std::vector<Index>& lengths, Integer longest);

/// Reshapes a padding mask [B, T] to [B, 1, 1, T], which attention() broadcasts over heads and queries. A mask [B, T]
/// would be read as [Tq, Tk]. True means that a key may be attended to. Errors: a rank other than 2.
inline Mask key_padding(const Mask& present) {
  present.require("key_padding");
  check_in("key_padding", present.rank() == 2, "mask ", present.shape(), " must be [B, T]");
  return present.unsqueeze(1).unsqueeze(1);
}

/// Converts a mask in which true means blocked into one in which true means may attend. It inverts every element.
inline Mask from_blocked(const Mask& blocked) { return ~blocked; }
/// Makes a mask from numbers. In `blocked`, 0 means that a query may attend and 1 means that it may not. For an
/// additive mask m of 0 and -infinity, write m == 0 instead. Errors: a value other than 0 and 1.
Mask from_blocked(const Tensor& blocked);

/// The slopes of ALiBi [H]: 2^(-8/H), 2^(-16/H), ... if H is a power of two. For any other H, the slopes for the next
/// lower power of two come first, followed by every second slope for the next higher power of two. Errors: fewer than
/// one head. Source: Press et al. 2022.
Array alibi_slopes(Integer heads);

}  // namespace mote
