// The Mersenne Twister on vectors of words, and random bits drawn from its words.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/mersenne.h"
#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

constexpr Index words_per_register = sizeof(Reg) / sizeof(std::uint32_t);
using Words = NativeWords;
using WordNumbers = std::make_integer_sequence<int, int(words_per_register)>;

MOTE_INLINE Words load_words(const std::uint32_t* p) {
  Words w;
  std::memcpy(&w, p, sizeof w);
  return w;
}

/// Computes the n words that follow the first 624 words of `stream`. A word depends only on words at least 227 places
/// before it, so a whole register of words is computed at once.
void twist(std::uint32_t* stream, Index n) {
  for (Index i = 0; i < n; i += words_per_register) {
    const std::uint32_t* const x = stream + i;
    const Words y = twisted(load_words(x), load_words(x + 1), load_words(x + twist_middle));
    std::memcpy(stream + i + twist_length, &y, sizeof y);
  }
}

void temper(const std::uint32_t* x, std::uint32_t* y, Index n) {
  Index i = 0;
  for (; i + words_per_register <= n; i += words_per_register) {
    const Words t = tempered(load_words(x + i));
    std::memcpy(y + i, &t, sizeof t);
  }
  if (i == n) return;
  Words rest = {};
  const std::size_t bytes = static_cast<std::size_t>(n - i) * sizeof(std::uint32_t);
  std::memcpy(&rest, x + i, bytes);
  rest = tempered(rest);
  std::memcpy(y + i, &rest, bytes);
}

/// The words 0, 2, 4, ... of two registers.
template <int... i>
MOTE_INLINE Words even_words(Words a, Words b, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(a, b, (2 * i)...);
}

/// Sets the bit of each draw that is below `limit`. kernels.h describes how two words make a draw of 53 bits. The high
/// 21 bits decide all but one draw in two million, so the second word of a draw, which holds the low bits, is rarely
/// needed.
void bits_below_limit(const std::uint32_t* x, std::uint64_t limit, std::uint8_t* bits, Index n) {
  const std::uint32_t high_limit = static_cast<std::uint32_t>(limit >> 32);
  const auto draw = [&](Index i) {
    const std::uint32_t high = tempered(x[2 * i]) & 0x1FFFFFu, low = tempered(x[2 * i + 1]);
    return ((static_cast<std::uint64_t>(high) << 32) | low) < limit;
  };
  constexpr Index group = words_per_register < 8 ? 8 : words_per_register;
  Index i = 0;
  for (; i + group <= n; i += group) {
    unsigned below = 0, not_above = 0;
    for (Index k = 0; k < group; k += words_per_register) {
      const std::uint32_t* const p = x + 2 * (i + k);
      const Words first = even_words(load_words(p), load_words(p + words_per_register), WordNumbers());
      const Words high = tempered(first) & 0x1FFFFFu;
      below |= native_bits_below(high, high_limit) << k;
      not_above |= native_bits_below(high, high_limit + 1) << k;
    }
    for (Index k = 0; below != not_above && k < group; ++k)
      if (((below ^ not_above) >> k & 1) != 0 && !draw(i + k)) not_above &= ~(1u << k);
    for (Index k = 0; k < group; k += 8) bits[(i + k) / 8] = static_cast<std::uint8_t>(not_above >> k);
  }
  for (; i < n; i += 8) {
    unsigned byte = 0;
    for (Index k = 0; k < 8 && i + k < n; ++k) byte |= static_cast<unsigned>(draw(i + k)) << k;
    bits[i / 8] = static_cast<std::uint8_t>(byte);
  }
}

}  // namespace
}  // namespace mote
