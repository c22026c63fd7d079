// The formulas of the Mersenne Twister (MT19937) for one word or a vector of words.
#pragma once

#include <cstdint>

#include "engine/base/math_constants.h"

namespace mote {
namespace {

/// The words of the generator form one stream x. x[i + 624] is computed from x[i], x[i + 1] and x[i + 397].
constexpr Index twist_length = 624, twist_middle = 397;

template <class W>
MOTE_INLINE W twisted(W at, W next, W middle) {
  const W y = (at & 0x80000000u) | (next & 0x7FFFFFFFu);
  return middle ^ (y >> 1) ^ ((0u - (y & 1u)) & 0x9908B0DFu);
}

/// The random number that the generator returns for word y of the stream. Tempering mixes the bits of a word, so that
/// the numbers are more evenly distributed.
template <class W>
MOTE_INLINE W tempered(W y) {
  y ^= y >> 11;
  y ^= (y << 7) & 0x9D2C5680u;
  y ^= (y << 15) & 0xEFC60000u;
  return y ^ (y >> 18);
}

}  // namespace
}  // namespace mote
