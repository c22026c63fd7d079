// A fused multiply-add of floats that is computed in double, for machines without the instruction.
#pragma once

#include <cstdint>

#include "engine/base/real.h"

namespace mote {
namespace {

using TwoDoubles = double __attribute__((vector_size(16)));
using TwoWords = std::uint64_t __attribute__((vector_size(16)));

/// a*b + c in double, exact except for its last bit, which is 1 whenever the true sum is not a double ("rounded to
/// odd"). The product of two floats fits a double. Rounding such a value to float gives the float nearest to the true
/// sum, because a value with an odd last bit is never halfway between two floats (Boldo and Melquiond, 2008).
MOTE_INLINE TwoDoubles multiply_add_to_odd(TwoDoubles a, TwoDoubles b, TwoDoubles c) {
  const TwoDoubles p = a * b, s = p + c;
  const TwoDoubles c_seen = s - p, p_seen = s - c_seen;
  const TwoDoubles error = (p - p_seen) + (c - c_seen);  // Knuth's TwoSum: s + error == p + c
  const TwoDoubles zero = {};
  const TwoWords inexact = (TwoWords)(error < zero) | (TwoWords)(zero < error);  // false if s is infinite or NaN
  const TwoWords even = ((TwoWords)s & 1) - 1;                                   // all ones if the last bit is 0
  const TwoWords away = ((TwoWords)s ^ (TwoWords)error) >> 63;                   // 1 if |s| is above |a*b + c|
  return (TwoDoubles)((TwoWords)s + ((1 - 2 * away) & inexact & even));
}

}  // namespace

// Emscripten's own fmaf needs rounding modes that WebAssembly lacks, so it rounds half of the near ties wrong.
#if defined(__EMSCRIPTEN__) && !defined(MOTE_FMAF)
#define MOTE_FMAF
extern "C" __attribute__((weak)) float fmaf(float x, float y, float z) {
  return static_cast<float>(multiply_add_to_odd(TwoDoubles{x}, TwoDoubles{y}, TwoDoubles{z})[0]);
}
#endif

}  // namespace mote
