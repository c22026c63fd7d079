// Batch, what a toy task hands to the training loop, and the hash that keeps splits apart.
#pragma once

#include <cstdint>
#include <span>

#include "engine/array/int_array.h"
#include "engine/array/random.h"

namespace mote {

/// Inputs and what should come next at each position, both [B, T]; a target of -1 is not counted.
struct Batch {
  IntArray ids, targets;
};

/// Which examples a task draws: those to train on, or those held out for testing.
enum class Split { train, test };

/// FNV-1a over the ids of one example, mixed once more so that every bit counts. The same ids give the same hash on
/// every machine: an example belongs to one split for ever.
inline std::uint64_t example_hash(std::span<const Index> ids) {
  std::uint64_t h = 14695981039346656037u;
  for (const Index id : ids) h = (h ^ static_cast<std::uint64_t>(id)) * 1099511628211u;
  h ^= h >> 33;
  h *= 0xff51afd7ed558ccdu;  // MurmurHash3's finaliser
  return h ^ (h >> 33);
}

/// Rows [B, T + 1] as inputs (all but the last column) and targets (all but the first).
inline Batch next_token_batch(const IntArray& rows) {
  const Index T = rows.shape()[1] - 1;
  return {rows.slice(1, 0, T).contiguous(), rows.slice(1, 1, T + 1).contiguous()};
}

}  // namespace mote
