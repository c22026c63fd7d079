// The masks people build for attention: causal, padding, and from the other reading; the slopes of ALiBi.
#pragma once

#include <vector>

#include "engine/array/mask.h"
#include "engine/autograd/op.h"

namespace mote {

/// Who may attend to whom in a causal model: true where key <= query. Shape [queries, keys]; with more keys than
/// queries the queries are the last ones. Errors: fewer keys than queries.
Mask causal_mask(Index queries, Index keys);
inline Mask causal_mask(Index length) { return causal_mask(length, length); }

/// Who may be attended to in a batch of padded rows: true for the first lengths[b] of `longest` keys.
/// Shape [B, 1, 1, longest], for every head and query. Errors: a length outside [0, longest].
Mask padding_mask(const std::vector<Index>& lengths, Index longest);

/// The mask of a program in which true, or 1, means blocked: every value inverted.
inline Mask from_blocked(const Mask& blocked) { return ~blocked; }
/// The same from numbers: 0 may attend, 1 is blocked. Errors: any other number, such as the -infinity of a mask that is
/// meant to be added.
Mask from_blocked(const Tensor& blocked);

/// The slopes of ALiBi [H]: 2^(-8/H), 2^(-16/H), ... for a power of two; for other H those of the next lower power, and
/// then every other one of the next higher. Errors: fewer than one head. Source: Press et al. 2022.
Array alibi_slopes(Index heads);

}  // namespace mote
