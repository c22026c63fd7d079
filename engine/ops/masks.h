// The usual masks for attention: causal, padding, and from the opposite convention; the slopes of ALiBi.
#pragma once

#include <vector>

#include "engine/array/mask.h"
#include "engine/autograd/op.h"

namespace mote {

/// Which query may attend to which key in a causal model: true where key <= query, and of these for the last `window`
/// keys (0: all). Shape [queries, keys]; with more keys than queries, the queries are the last positions. Errors: fewer
/// keys than queries, a window below 0.
Mask causal_mask(Integer queries, Integer keys, Integer window = 0);
inline Mask causal_mask(Integer length) { return causal_mask(length, length); }

/// Which keys may be attended to in a batch of padded rows: true for the first lengths[b] of `longest` keys.
/// Shape [B, 1, 1, longest], for every head and query. Errors: a length outside [0, longest].
Mask padding_mask(const std::vector<Index>& lengths, Integer longest);

/// The mask of padded rows, [B, T], true for keys that may be attended to, in the shape that attention takes: [B, 1, 1,
/// T], for every head and query. As it is, [B, T] would be read as [Tq, Tk]. Errors: another rank.
inline Mask key_padding(const Mask& present) {
  present.require();
  check_in("key_padding", present.rank() == 2, "mask ", present.shape(), " must be [B, T]");
  return present.unsqueeze(1).unsqueeze(1);
}

/// Converts a mask in which true, or 1, means blocked: inverts every element.
inline Mask from_blocked(const Mask& blocked) { return ~blocked; }
/// Makes a mask from numbers. 0 means that a query may attend, 1 that it may not. Errors: any other value. Of an
/// additive mask m of 0 and -infinity write m == 0.
Mask from_blocked(const Tensor& blocked);

/// The slopes of ALiBi [H]: 2^(-8/H), 2^(-16/H), ... for a power of two; for other H those of the next lower power,
/// followed by every other one of the next higher. Errors: fewer than one head. Source: Press et al. 2022.
Array alibi_slopes(Integer heads);

}  // namespace mote
