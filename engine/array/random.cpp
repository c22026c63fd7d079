// The Mersenne Twister, and how PyTorch converts its words into floats, integers, masks and exponential values.
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

/// Calls put(i, unit) for i from 0 to n - 1. Each unit is the next number uniform in [0, 1) of type T.
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
  check_in("uniform", low >= -most, "low ", low, " must be at least ", -most, ", the least finite number of its type");
  check_in("uniform", high <= most, "high ", high, " must be at most ", most,
           ", the largest finite number of its type");
  const T a = static_cast<T>(low), width = static_cast<T>(high) - a;
  check_in("uniform", width <= std::numeric_limits<T>::max(), "the distance from low ", low, " to high ", high,
           " must be at most ", most);
  for_units<T>(stream, out.size(), [&](std::size_t i, T unit) { out[i] = std::fma(unit, width, a); });
}

using Block = std::array<std::uint32_t, twist_length>;

/// A buffer for one block (624 words) of the stream and up to `most` blocks after it, small enough for the L1 cache.
class Stream {
 public:
  static constexpr Index most = 8;  // number of next blocks that fit
  explicit Stream(const Block& start) { std::copy(start.begin(), start.end(), words_.begin()); }
  const std::uint32_t* make(Index next_blocks) {
    kernels::table().twist(words_.data(), next_blocks * twist_length);
    return words_.data();
  }
  /// Moves a block of the buffer to the front, so that the stream continues from that block.
  void move_to(Index block) {
    if (block > 0) std::copy_n(words_.begin() + block * twist_length, twist_length, words_.begin());
  }
  void copy_block(Block& to) const { std::copy_n(words_.begin(), twist_length, to.begin()); }

 private:
  std::array<std::uint32_t, (most + 1) * twist_length + 15> words_;
};

/// Replaces `block` with the block that comes `blocks` blocks later in the stream.
void pass_blocks(Block& block, Index blocks) {
  Stream stream(block);
  for (Index done = 0, n; done < blocks; done += n) {
    n = std::min(Stream::most, blocks - done);
    stream.make(n);
    stream.move_to(n);
  }
  stream.copy_block(block);
}

/// Makes `draws` draws of two words each, and sets bit i if draw i is below `limit`. The first `used` words of `block`
/// are drawn already. Afterwards `block` and `used` tell where the next draw begins.
void draw_bits(Block& block, Index& used, std::uint64_t limit, std::uint8_t* bits, Index draws) {
  constexpr Index most = Stream::most * twist_length / 2;
  Stream stream(block);
  for (Index i = 0; i < draws; i += most) {
    const Index count = std::min(most, draws - i), end = used + 2 * count, last = (end - 1) / twist_length;
    kernels::table().bits_below_limit(stream.make(last) + used, limit, bits + i / 8, count);
    stream.move_to(last);
    used = end - last * twist_length;
  }
  stream.copy_block(block);
}

/// A generator of Intel's MKL, x <- 1132489760 x mod (2^31 - 1). The seed is one word, and the first value is the seed
/// itself. PyTorch builds with MKL use this generator because value number k can be computed directly, so that any
/// thread can start anywhere.
class Congruential {
 public:
  static constexpr std::uint64_t modulus = 0x7FFFFFFF, factor = 1132489760;
  explicit Congruential(std::uint32_t seed) : x_(std::max<std::uint64_t>(seed % modulus, 1)) {}
  std::uint64_t next() { return std::exchange(x_, product(x_, factor)); }

  static std::uint64_t product(std::uint64_t a, std::uint64_t b) { return a * b % modulus; }
  /// Returns the value that next() would return after k other calls. at(0) is the next value.
  std::uint64_t at(std::uint64_t k) const {
    std::uint64_t x = x_;
    for (std::uint64_t power = factor; k > 0; k /= 2, power = product(power, power))
      if (k % 2 != 0) x = product(x, power);
    return x;
  }

 private:
  std::uint64_t x_;
};

/// Sets bit k if value number k of the generator is below p times the modulus. Eight chains are computed side by side,
/// each with every eighth value.
void congruential_bits(const Congruential& start, double p, std::uint8_t* bits, Index n) {
  const auto below = [p](std::uint64_t x) { return static_cast<double>(x) / Congruential::modulus < p; };
  std::uint64_t limit = static_cast<std::uint64_t>(p * Congruential::modulus);  // from this x on below(x) is false
  while (limit > 0 && !below(limit - 1)) --limit;
  while (below(limit)) ++limit;

  const std::uint64_t eight_on = Congruential(1).at(8);
  parallel_for((n + 7) / 8, grain_for(10), [&](Index lo, Index hi) {
    std::array<std::uint64_t, 8> x;
    for (std::size_t k = 0; k < 8; ++k) x[k] = start.at(static_cast<std::uint64_t>(8 * lo) + k);
    for (Index at = lo; at < hi; ++at) {
      unsigned byte = 0;
      for (std::size_t k = 0; k < 8; ++k) {
        byte |= static_cast<unsigned>(x[k] < limit) << k;
        x[k] = Congruential::product(x[k], eight_on);
      }
      const Index left = n - 8 * at;
      bits[at] = static_cast<std::uint8_t>(left < 8 ? byte & ((1u << left) - 1) : byte);
    }
  });
}

template <class T>
void fill_exponential(const Generator& stream, std::span<T> out, double lambda) {
  check_in("exponential", lambda > 0, "lambda ", lambda, " must be above 0");
  if (out.empty()) return;
  if (stream.build().exponential_draws_one_word()) {
    // -log(u) / lambda with u from MKL's own generator. The smallest normal number is added, so that no value is 0.
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
  s.used = static_cast<std::uint32_t>(s.words.size());  // all words count as drawn, so the first draw makes a new block
  s.has_normal = false;
  s.cached_normal = 0;
}

void Generator::set_state(const GeneratorState& state) const {
  check_in("set_state", state.used <= state.words.size(), "the state of the generator is damaged: its position is ",
           state.used, ", but at most ", state.words.size(), " words can be drawn");
  const bool dead = std::all_of(state.words.begin(), state.words.end(), [](std::uint32_t w) { return w == 0; });
  check_in("set_state", !dead,
           "the state of the generator is empty: all its words are 0, so every draw would be 0; pass a state from "
           "get_state()");
  *state_ = state;
}

/// Returns the state, in which at least one word is left to draw. Makes a new block first if all words of the current
/// block are drawn.
GeneratorState& Generator::with_word() const {
  GeneratorState& s = *state_;
  if (s.used == s.words.size()) {
    pass_blocks(s.words, 1);
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
  // Unsigned, because the range may be as wide as 2^64 - 1. Sums wrap around to the correct int64.
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
  check_in("bernoulli_bits", bits.size() == (n + 7) / 8, n, " bits need a buffer of ", (n + 7) / 8, " bytes, not ",
           bits.size());
  check_in("bernoulli", p >= 0 && p <= 1, "p = ", p, " is not a probability");
  if (n == 0) return;
  const Index all = static_cast<Index>(n);
  if (build().mkl) return congruential_bits(Congruential(next_u32()), p, bits.data(), all);

  // A double unit (random.h) is below p if its 53 bits are below `limit`. Each thread draws one part. A part begins a
  // whole number of blocks after the previous part. The calling thread first computes the block at which each part
  // begins, without drawing.
  const std::uint64_t limit = static_cast<std::uint64_t>(std::ceil(p * 0x1p53));
  constexpr Index worth_a_part = 8192, whole = Stream::most * twist_length / 2;
  const Index parts = std::clamp<Index>(all / worth_a_part, 1, threads());
  const Index part = ((all + parts - 1) / parts + whole - 1) / whole * whole;
  Index end = 0;  // the number of drawn words in the last block
  std::vector<Block, CachedAllocator<Block>> starts{state_->words};
  for (Index i = part; i < all; i += part) {
    starts.push_back(starts.back());
    pass_blocks(starts.back(), part * 2 / twist_length);
  }
  parallel_for(std::ssize(starts), 1, [&](Index lo, Index hi) {
    for (Index k = lo; k < hi; ++k) {
      Index used = state_->used;
      draw_bits(starts[static_cast<std::size_t>(k)], used, limit, bits.data() + k * part / 8,
                std::min(part, all - k * part));
      if (k + 1 == std::ssize(starts)) end = used;
    }
  });
  state_->words = starts.back();
  state_->used = static_cast<std::uint32_t>(end);
}

void Generator::exponential(std::span<float> out, Real lambda) const { fill_exponential(*this, out, lambda); }
void Generator::exponential(std::span<double> out, Real lambda) const { fill_exponential(*this, out, lambda); }

}  // namespace mote
