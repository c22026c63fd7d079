// The two 16-bit floating-point formats, widened exactly to float.
#pragma once

#include <cstdint>
#include <cstring>

namespace mote::detail {

inline float float_of_bits(std::uint32_t bits) {
  float x = 0;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}

/// IEEE 754 binary16: 1 bit of sign, 5 of exponent, 10 of fraction. NaN keeps its fraction bits.
inline float from_half(std::uint16_t half) {
  const std::uint32_t sign = std::uint32_t(half & 0x8000u) << 16, exponent = half >> 10 & 31u, fraction = half & 0x3ffu;
  if (exponent == 0) {  // fraction * 2^-24, a normal float
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return sign ? -magnitude : magnitude;
  }
  return float_of_bits(sign | (exponent == 31 ? 255u : exponent + 112u) << 23 | fraction << 13);
}

/// bfloat16: the upper half of a float.
inline float from_bfloat16(std::uint16_t upper) { return float_of_bits(std::uint32_t(upper) << 16); }

}  // namespace mote::detail
