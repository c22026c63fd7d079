// Python's random, on mote's Mersenne Twister: what splits of data are shuffled with.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "engine/array/random.h"

namespace mote {

/// The stream of Python's random module after random.seed(seed), for seeds of at most 32 bits. Source: M. Matsumoto, T.
/// Nishimura, "Mersenne Twister", ACM TOMACS 8 (1998), init_by_array; the draws follow CPython.
class PythonRandom {
 public:
  explicit PythonRandom(std::uint32_t seed) {
    const Generator start(19650218);
    GeneratorState state = start.get_state();
    auto& mt = state.words;
    constexpr std::size_t n = 624;
    const auto last = [&](std::size_t i) { return mt[i - 1] ^ mt[i - 1] >> 30; };
    std::size_t i = 1;
    const auto next = [&] {
      if (++i < n) return;
      mt[0] = mt[n - 1];
      i = 1;
    };
    for (std::size_t k = 0; k < n; ++k) {
      mt[i] = (mt[i] ^ last(i) * 1664525u) + seed;
      next();
    }
    for (std::size_t k = 1; k < n; ++k) {
      mt[i] = (mt[i] ^ last(i) * 1566083941u) - static_cast<std::uint32_t>(i);
      next();
    }
    mt[0] = 0x80000000u;
    state.used = n;
    words_.set_state(state);
  }

  /// An integer from 0 to n - 1, n at most 2^32 - 1: as many high bits of a word as n has, drawn again if too large.
  std::uint32_t below(std::uint32_t n) {
    const int bits = static_cast<int>(std::bit_width(n));
    std::uint32_t x = n;
    while (x >= n) x = words_.next_u32() >> (32 - bits);
    return x;
  }
  /// random.shuffle.
  template <class T>
  void shuffle(std::vector<T>& x) {
    for (std::size_t i = x.size(); i-- > 1;) std::swap(x[i], x[below(static_cast<std::uint32_t>(i + 1))]);
  }

 private:
  Generator words_;
};

}  // namespace mote
