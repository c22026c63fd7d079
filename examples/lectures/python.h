// Python's random module and NumPy's legacy generator, built on mote's Mersenne Twister. Also texts and lists as
// Python prints them.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/array/random.h"

namespace mote {

namespace detail {
/// A number in [0, 1) from 53 bits of two words, as both Python and NumPy draw it.
inline double unit_of_two_words(const Generator& words) {
  const double high = words.next_u32() >> 5, low = words.next_u32() >> 6;
  return (high * 67108864 + low) / 9007199254740992;
}
}  // namespace detail

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

  /// random.random().
  double random() { return detail::unit_of_two_words(words_); }
  /// random.uniform(low, high).
  double uniform(double low, double high) { return low + (high - low) * random(); }
  /// random.gauss(mean, std). The method of Box and Muller makes two normal values at a time, so the other one is kept
  /// for the next call.
  double gauss(double mean, double std) {
    double z = 0;
    if (kept_) {
      z = *kept_;
      kept_.reset();
    } else {
      const double angle = random() * (2 * 3.141592653589793);
      const double radius = std::sqrt(-2 * std::log(1 - random()));
      z = std::cos(angle) * radius;
      kept_ = std::sin(angle) * radius;
    }
    return mean + z * std;
  }
  /// random.choices(range(n), weights)[0].
  std::size_t choice(const std::vector<double>& weights) {
    std::vector<double> sums;
    double total = 0;
    for (const double weight : weights) sums.push_back(total += weight);
    const auto at = std::upper_bound(sums.begin(), sums.end() - 1, random() * total);
    return static_cast<std::size_t>(at - sums.begin());
  }
  /// A random integer from 0 to n - 1, for n up to 2^32 - 1. The integer is made of as many high bits of a random word
  /// as n has bits. If the integer is not below n, another word is drawn.
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
  std::optional<double> kept_;  // the second of two normal values
};

/// The stream of NumPy's legacy generator after numpy.random.seed(seed). Source: NumPy's RandomState.
class NumpyRandom {
 public:
  explicit NumpyRandom(std::uint32_t seed) : words_(seed) {}

  /// A standard normal value. Marsaglia's polar method makes two at a time, so the other one is kept for the next
  /// call.
  double normal() {
    if (kept_) {
      const double z = *kept_;
      kept_.reset();
      return z;
    }
    double x = 0, y = 0, square = 0;
    do {
      x = 2 * detail::unit_of_two_words(words_) - 1;
      y = 2 * detail::unit_of_two_words(words_) - 1;
      square = x * x + y * y;
    } while (square >= 1 || square == 0);
    const double scale = std::sqrt(-2 * std::log(square) / square);
    kept_ = scale * x;
    return scale * y;
  }
  /// numpy.random.shuffle. A random index is made of as many low bits of a random word as the largest allowed index
  /// has bits. If the index is too large, another word is drawn.
  template <class T>
  void shuffle(std::vector<T>& x) {
    for (std::size_t i = x.size(); i-- > 1;) {
      const std::uint32_t bits = (1u << std::bit_width(i)) - 1;
      std::uint32_t j = 0;
      do j = words_.next_u32() & bits;
      while (j > i);
      std::swap(x[i], x[j]);
    }
  }

 private:
  Generator words_;
  std::optional<double> kept_;
};

/// A text as Python's repr prints it, in single quotes, or in double quotes if the text has a single quote and no
/// double quote.
inline std::string quoted(const std::string& text) {
  const bool single = text.find('\'') != text.npos, twice = text.find('"') != text.npos;
  const char quote = single && !twice ? '"' : '\'';
  std::string out(1, quote);
  for (const char c : text) {
    if (c == quote || c == '\\') out += '\\';
    out += c;
  }
  return out + quote;
}

/// "[1, 2]" or "['a', 'b']", as Python prints a list.
template <class T>
std::string list_text(const std::vector<T>& items) {
  std::string out = "[";
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ", ";
    if constexpr (std::is_same_v<T, std::string>) {
      out += quoted(items[i]);
    } else {
      out += std::to_string(items[i]);
    }
  }
  return out + "]";
}

}  // namespace mote
