// Masks and slopes to try attention with.
#pragma once

#include "engine/ops/ops.h"
#include "tests/support.h"

namespace mote::test {

inline Mask random_mask(const Shape& shape, std::uint64_t seed) { return bernoulli(0.6, shape, Generator(seed)) > 0; }

/// 1/2, 1/4, 1/6, ...: other than the layer's, as the op takes any.
inline Array some_slopes(Index heads) {
  Array slopes = Array::empty({heads});
  for (Index h = 0; h < heads; ++h) slopes.mutate()[h] = real(0.5) / static_cast<real>(h + 1);
  return slopes;
}

}  // namespace mote::test
