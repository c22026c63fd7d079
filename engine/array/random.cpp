// The Mersenne Twister, and how PyTorch converts its words into floats, integers, masks and waiting times.
#include "engine/array/random.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "engine/base/check.h"
#include "engine/base/math.h"
#include "engine/base/parallel.h"
#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"
#include "engine/kernels/mersenne.h"

namespace mote {
namespace {

/// Calls put(i, unit i) for the next n units of type T.
template <class T, class Put>
void for_units(const Generator& stream, std::size_t n, const Put& put) {
  constexpr std::size_t each = sizeof(T) / sizeof(std::uint32_t);
  std::array<std::uint32_t, 512> words;
  for (std::size_t i = 0; i < n;) {
    const std::size_t count = std::min(n - i, words.size() / each);
    stream.words({words.data(), count * each});
    for (std::size_t j = 0; j < count; ++j, ++i) {
      if constexpr (each == 1)
        put(i, Generator::unit_of(words[j]));
      else
        put(i, Generator::unit_of(std::uint64_t(words[2 * j]) << 32 | words[2 * j + 1]));
    }
  }
}

template <class T>
void fill_uniform(const Generator& stream, std::span<T> out, double low, double high) {
  constexpr double most = std::numeric_limits<T>::max();
  check_in("uniform", low <= high, "low ", low, " must be at most high ", high);
  check_in("uniform", low >= -most && high <= most, "bounds ", low, " and ", high, " are not finite in this type");
  const T a = static_cast<T>(low), width = static_cast<T>(high) - a;
  check_in("uniform", width <= std::numeric_limits<T>::max(), "the width from ", low, " to ", high, " overflows");
  for_units<T>(stream, out.size(), [&](std::size_t i, T unit) { out[i] = std::fma(unit, width, a); });
}

/// Replaces a used-up block of words with the next one.
void twist_block(std::array<std::uint32_t, twist_length>& words) {
  std::array<std::uint32_t, 2 * twist_length + 15> stream;
  std::copy(words.begin(), words.end(), stream.begin());
  kernels::table().twist(stream.data(), twist_length);
  std::copy_n(stream.begin() + twist_length, twist_length, words.begin());
}

/// The generator that Intel's MKL seeds with one word: x <- 1132489760 x mod (2^31 - 1). Its first value is the seed
/// itself. Element k depends on k alone, which is why those builds use it: any thread can start anywhere.
class Congruential {
 public:
  static constexpr std::uint64_t modulus = 0x7FFFFFFF, factor = 1132489760;
  explicit Congruential(std::uint32_t seed) : x_(std::max<std::uint64_t>(seed % modulus, 1)) {}
  std::uint64_t next() { return std::exchange(x_, product(x_, factor)); }

  static std::uint64_t product(std::uint64_t a, std::uint64_t b) { return a * b % modulus; }
  /// Element k, counted from the next one.
  std::uint64_t at(std::uint64_t k) const {
    std::uint64_t x = x_;
    for (std::uint64_t power = factor; k > 0; k /= 2, power = product(power, power))
      if (k % 2 != 0) x = product(x, power);
    return x;
  }

 private:
  std::uint64_t x_;
};

/// Calls fill(begin, count) for parts of n draws, which begin at whole bytes of their bits, on all threads.
template <class Fill>
void for_bits(Index n, Index part, double nanoseconds, const Fill& fill) {
  parallel_for((n + part - 1) / part, grain_for(static_cast<double>(part) * nanoseconds), [&](Index lo, Index hi) {
    for (Index i = lo * part; i < std::min(hi * part, n); i += part) fill(i, std::min(part, n - i));
  });
}

/// Bit k: whether element k is below p times the modulus. Eight chains of every eighth element run side by side.
void congruential_bits(const Congruential& start, double p, std::uint8_t* bits, Index n) {
  const auto below = [p](std::uint64_t x) { return static_cast<double>(x) / Congruential::modulus < p; };
  std::uint64_t limit = static_cast<std::uint64_t>(p * Congruential::modulus);  // the least x that is not below
  while (limit > 0 && !below(limit - 1)) --limit;
  while (below(limit)) ++limit;

  const std::uint64_t eight_on = Congruential(1).at(8);
  for_bits(n, 4096, 0.5, [&](Index begin, Index count) {
    std::array<std::uint64_t, 8> x;
    for (std::size_t k = 0; k < 8; ++k) x[k] = start.at(static_cast<std::uint64_t>(begin) + k);
    for (Index i = begin; i < begin + count; i += 8) {
      unsigned byte = 0;
      for (std::size_t k = 0; k < 8; ++k) {
        byte |= static_cast<unsigned>(x[k] < limit) << k;
        x[k] = Congruential::product(x[k], eight_on);
      }
      const Index left = begin + count - i;
      bits[i / 8] = static_cast<std::uint8_t>(left < 8 ? byte & ((1u << left) - 1) : byte);
    }
  });
}

template <class T>
void fill_exponential(const Generator& stream, std::span<T> out, double lambda) {
  check_in("exponential", lambda > 0, "lambda ", lambda, " must be above 0");
  if (out.empty()) return;
  if (stream.build().exponential_draws_one_word()) {
    // -log(unit) of MKL's own generator, shifted from zero by the smallest normal float.
    Congruential mkl(std::is_same_v<T, float> ? stream.next_u32() : static_cast<std::uint32_t>(stream.next_u64()));
    for (T& x : out) {
      const T u = static_cast<T>(mkl.next()) * static_cast<T>(1.0 / Congruential::modulus);
      x = static_cast<T>(-math::log(static_cast<double>(u)) / lambda + std::numeric_limits<T>::min());
    }
  } else {
    for_units<double>(stream, out.size(),
                      [&](std::size_t i, double unit) { out[i] = static_cast<T>(-1 / lambda * math::log1p(-unit)); });
  }
}

template <class Draw>
void draw_float32(std::span<real> out, const Draw& draw) {
  if constexpr (std::is_same_v<real, float>) return draw(out);
  std::vector<float> drawn(out.size());
  draw(std::span<float>(drawn));
  std::copy(drawn.begin(), drawn.end(), out.begin());
}

}  // namespace

void Generator::set_build(const TorchBuild& build) const {
  check_in("set_build", build.version >= 100 && build.version < 1000, "version ", build.version,
           " is not 100 * major + minor, such as 207 for PyTorch 2.7");
  state_->build = build;
}

void Generator::seed_with(std::uint64_t seed) const {
  GeneratorState& s = *state_;
  s.seed = seed;
  s.words[0] = static_cast<std::uint32_t>(seed);
  for (std::uint32_t i = 1; i < s.words.size(); ++i)
    s.words[i] = 1812433253u * (s.words[i - 1] ^ (s.words[i - 1] >> 30)) + i;
  s.used = static_cast<std::uint32_t>(s.words.size());  // these words are the seed: the first draw twists them
  s.has_normal = false;
  s.cached_normal = 0;
}

void Generator::set_state(const GeneratorState& state) const {
  check_in("set_state", state.used <= state.words.size(), "position ", state.used, " is above ", state.words.size());
  const bool dead = std::all_of(state.words.begin(), state.words.end(), [](std::uint32_t w) { return w == 0; });
  check_in("set_state", !dead, "all words are zero, so every draw would be zero; was this state ever filled?");
  *state_ = state;
}

/// The state, of which at least one word has not been drawn.
GeneratorState& Generator::with_word() const {
  GeneratorState& s = *state_;
  if (s.used == s.words.size()) {
    twist_block(s.words);
    s.used = 0;
  }
  return s;
}

std::uint32_t Generator::next_u32() const {
  GeneratorState& s = with_word();
  return tempered(s.words[s.used++]);
}

void Generator::words(std::span<std::uint32_t> out) const {
  while (!out.empty()) {
    GeneratorState& s = with_word();
    const std::size_t count = std::min(out.size(), s.words.size() - s.used);
    kernels::table().temper(s.words.data() + s.used, out.data(), static_cast<Index>(count));
    s.used += static_cast<std::uint32_t>(count);
    out = out.subspan(count);
  }
}

std::uint64_t Generator::next_u64() const {
  const std::uint64_t high = next_u32();
  return (high << 32) | next_u32();
}

void Generator::uniform(std::span<float> out, Real low, Real high) const { fill_uniform(*this, out, low, high); }
void Generator::uniform(std::span<double> out, Real low, Real high) const { fill_uniform(*this, out, low, high); }

void Generator::uniform_float32(std::span<real> out, Real low, Real high) const {
  draw_float32(out, [&](std::span<float> drawn) { uniform(drawn, low, high); });
}
void Generator::normal_float32(std::span<real> out, Real mean, Real std) const {
  draw_float32(out, [&](std::span<float> drawn) { normal(drawn, mean, std); });
}

void Generator::randint(std::span<std::int64_t> out, Integer low, Integer high) const {
  check_in("randint", low < high, "low ", low, " must be below high ", high);
  // Unsigned: the range may be as wide as 2^64 - 1, and sums wrap to the correct int64.
  const std::uint64_t first = static_cast<std::uint64_t>(low), range = static_cast<std::uint64_t>(high) - first;
  const bool wide = range >= (std::uint64_t(1) << (build().version >= 207 ? 28 : 32));
  for (std::int64_t& x : out) {
    const std::uint64_t word = wide ? next_u64() : next_u32();
    x = static_cast<std::int64_t>(first + word % range);
  }
}

std::vector<std::int64_t> Generator::randperm(Integer n) const {
  constexpr std::int64_t limit = (std::int64_t(1) << 32) / 20;
  check_in("randperm", n >= 0 && n < limit, "n = ", n, " is outside [0, ", limit, ")");
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t(0));
  for (std::size_t i = 0; i + 1 < order.size(); ++i) std::swap(order[i], order[i + next_u32() % (order.size() - i)]);
  return order;
}

void Generator::bernoulli_bits(std::span<std::uint8_t> bits, std::size_t n, Real p) const {
  check_in("bernoulli_bits", bits.size() == (n + 7) / 8, n, " bits need ", (n + 7) / 8, " bytes, not ", bits.size());
  check_in("bernoulli", p >= 0 && p <= 1, "p = ", p, " is not a probability");
  if (n == 0) return;
  const Index all = static_cast<Index>(n);
  if (build().mkl) return congruential_bits(Congruential(next_u32()), p, bits.data(), all);

  // A unit is below p where its 53 bits are below this. The words of many draws are made first, one from the other;
  // then all threads compare them.
  const std::uint64_t limit = static_cast<std::uint64_t>(std::ceil(p * 0x1p53));
  constexpr Index most = 1 << 15;
  const Storage memory(static_cast<std::size_t>(2 * std::min(most, all) + 2 * twist_length + 15) *
                       sizeof(std::uint32_t));
  auto* const stream = static_cast<std::uint32_t*>(memory.data());
  GeneratorState& s = *state_;
  for (Index i = 0; i < all; i += most) {
    const Index count = std::min(most, all - i), end = s.used + 2 * count, last_block = (end - 1) / twist_length;
    std::copy(s.words.begin(), s.words.end(), stream);
    kernels::table().twist(stream, last_block * twist_length);
    for_bits(count, 64, 0.2, [&](Index at, Index draws) {
      kernels::table().bits_below_limit(stream + s.used + 2 * at, limit, bits.data() + (i + at) / 8, draws);
    });
    std::copy_n(stream + last_block * twist_length, twist_length, s.words.begin());
    s.used = static_cast<std::uint32_t>(end - last_block * twist_length);
  }
}

void Generator::exponential(std::span<float> out, Real lambda) const { fill_exponential(*this, out, lambda); }
void Generator::exponential(std::span<double> out, Real lambda) const { fill_exponential(*this, out, lambda); }

}  // namespace mote
