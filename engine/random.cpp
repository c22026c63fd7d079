// What is here: the Mersenne Twister, and how PyTorch turns its words into floats, normals, integers and masks.
// What is not: any choice of ours; every constant and every rounding is there because PyTorch's numbers come out.
// Read next: tests/engine/random_test.cpp, then array.h.
#include "engine/random.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>

#include "engine/check.h"
#include "engine/math.h"

namespace mote {
namespace {

constexpr double two_pi = 6.283185307179586;
constexpr std::size_t block = 16;  // normals are made this many at a time

/// Replaces a used-up block of the Mersenne Twister (MT19937) by the next one, in place.
void twist(std::array<std::uint32_t, 624>& words) {
  constexpr std::size_t n = 624, m = 397;
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t y = (words[i] & 0x80000000u) | (words[(i + 1) % n] & 0x7FFFFFFFu);
    words[i] = words[(i + m) % n] ^ (y >> 1) ^ ((y & 1u) != 0 ? 0x9908B0DFu : 0u);
  }
}

/// Natural logarithm of u in (0, 1], by S. Moshier's Cephes polynomial as PyTorch's AVX2 kernel evaluates it.
/// u = x * 2^e with x near 1; log u = log(x) + e log 2, where log 2 is split in two floats (0.693.. - 2.12e-4).
float block_log(float u) {
  constexpr float coefficients[] = {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                                    -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f};
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(u);
  const float fraction = std::bit_cast<float>((bits & 0x007FFFFFu) | 0x3F000000u);  // in [0.5, 1)
  float e = static_cast<float>(static_cast<int>(bits >> 23) - 126);
  float x = fraction - 1.0f;
  if (fraction < 0.707106781186547524f) {  // below sqrt(1/2): double it, so that x stays small on both sides of 0
    e -= 1.0f;
    x += fraction;
  }
  const float z = x * x;
  float y = 7.0376836292e-2f;
  for (const float c : coefficients) y = std::fma(y, x, c);
  y = y * x;
  y = std::fma(y, z, e * -2.12194440e-4f);
  y = std::fma(z, -0.5f, y);
  x = x + y;
  return std::fma(e, 0.693359375f, x);
}

struct SinCos {
  float sin, cos;
};

/// Sine and cosine of t in [0, 2 pi), Cephes again: j counts eighths of a turn (rounded to even), x = t - j pi/4 is
/// taken off in three parts, and j says which polynomial, with which sign, is the sine.
SinCos block_sincos(float t) {
  const int j = (static_cast<int>(t * 1.27323954473516f) + 1) & ~1;
  const float y = static_cast<float>(j);
  float x = std::fma(y, -0.78515625f, t);
  x = std::fma(y, -2.4187564849853515625e-4f, x);
  x = std::fma(y, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float c = std::fma(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = std::fma(c, z, 4.166664568298827e-2f);
  c = c * z;
  c = std::fma(c, z, -(z * 0.5f));
  c = c + 1.0f;
  float s = std::fma(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = std::fma(s, z, -1.6666654611e-1f);
  s = s * z;
  s = std::fma(s, x, x);
  if ((j & 2) != 0) std::swap(s, c);
  if ((j & 4) != 0) s = -s;
  if (((j - 2) & 4) == 0) c = -c;
  return {s, c};
}

/// Box-Muller on one block, in place: 16 units become 16 normals. The radius comes from the first of a pair of units
/// (k and k + 8), the angle from the second; 1 - unit keeps the logarithm away from zero.
void normal_block(float* d, float mean, float std) {
  for (std::size_t k = 0; k < block / 2; ++k) {
    const float r = std::sqrt(-2.0f * block_log(1.0f - d[k]));
    const auto [sin, cos] = block_sincos(static_cast<float>(two_pi) * d[k + 8]);
    d[k] = std::fma(r * cos, std, mean);
    d[k + 8] = std::fma(r * sin, std, mean);
  }
}

void normal_block(double* d, double mean, double std) {
  for (std::size_t k = 0; k < block / 2; ++k) {
    const double r = std::sqrt(-2.0 * math::log(1.0 - d[k]));
    const double t = two_pi * d[k + 8];
    d[k] = std::fma(r * math::cos(t), std, mean);
    d[k + 8] = std::fma(r * math::sin(t), std, mean);
  }
}

template <class T>
T unit(const Generator& stream) {
  if constexpr (std::is_same_v<T, float>)
    return stream.uniform_float();
  else
    return stream.uniform_double();
}

template <class T>
void fill_uniform(const Generator& stream, std::span<T> out, double low, double high) {
  constexpr double most = std::numeric_limits<T>::max();
  check_in("uniform", low <= high, "low ", low, " is not at or below high ", high);
  check_in("uniform", low >= -most && high <= most, "bounds ", low, " and ", high, " are not finite numbers here");
  const T a = static_cast<T>(low), width = static_cast<T>(high) - a;
  check_in("uniform", width <= std::numeric_limits<T>::max(), "the width from ", low, " to ", high, " overflows");
  for (T& x : out) x = std::fma(unit<T>(stream), width, a);
}

/// 16 elements or more. A ragged end is covered by one more block of fresh units over the last 16 elements, which
/// throws finished normals away; that is PyTorch's way of never having a short block.
template <class T>
void fill_normal_blocks(const Generator& stream, std::span<T> out, T mean, T std) {
  for (T& x : out) x = unit<T>(stream);
  for (std::size_t i = 0; i + block <= out.size(); i += block) normal_block(&out[i], mean, std);
  if (out.size() % block == 0) return;
  const std::span<T> last = out.last(block);
  for (T& x : last) x = unit<T>(stream);
  normal_block(last.data(), mean, std);
}

}  // namespace

void Generator::seed_with(std::uint64_t seed) const {
  GeneratorState& s = *state_;
  s.seed = seed;
  s.words[0] = static_cast<std::uint32_t>(seed);
  for (std::uint32_t i = 1; i < s.words.size(); ++i)
    s.words[i] = 1812433253u * (s.words[i - 1] ^ (s.words[i - 1] >> 30)) + i;
  s.used = static_cast<std::uint32_t>(s.words.size());  // these words are a seed: the first draw twists them
  s.has_normal = false;
  s.cached_normal = 0;
}

void Generator::set_state(const GeneratorState& state) const {
  check_in("set_state", state.used <= state.words.size(), "position ", state.used, " is above ", state.words.size());
  const bool dead = std::all_of(state.words.begin(), state.words.end(), [](std::uint32_t w) { return w == 0; });
  check_in("set_state", !dead, "all words are zero, so every draw would be; was this state ever filled?");
  *state_ = state;
}

std::uint32_t Generator::next_u32() const {
  GeneratorState& s = *state_;
  if (s.used == s.words.size()) {
    twist(s.words);
    s.used = 0;
  }
  std::uint32_t y = s.words[s.used++];
  y ^= y >> 11;  // tempering, so that single words are evenly spread too
  y ^= (y << 7) & 0x9D2C5680u;
  y ^= (y << 15) & 0xEFC60000u;
  return y ^ (y >> 18);
}

std::uint64_t Generator::next_u64() const {
  const std::uint64_t high = next_u32();
  return (high << 32) | next_u32();
}

void Generator::uniform(std::span<float> out, double low, double high) const { fill_uniform(*this, out, low, high); }
void Generator::uniform(std::span<double> out, double low, double high) const { fill_uniform(*this, out, low, high); }

/// One sample of the path for small sizes: here the radius comes from the second unit, the angle from the first.
double Generator::standard_normal() const {
  GeneratorState& s = *state_;
  if (s.has_normal) {
    s.has_normal = false;
    return std::exchange(s.cached_normal, 0.0);
  }
  const double u1 = uniform_double();
  const double u2 = uniform_double();
  const double r = std::sqrt(-2.0 * math::log1p(-u2));
  const double t = two_pi * u1;
  s.cached_normal = r * math::sin(t);
  s.has_normal = true;
  return r * math::cos(t);
}

void Generator::normal(std::span<float> out, double mean, double std) const {
  check_in("normal", std >= 0, "standard deviation ", std, " is not at or above 0");
  if (out.size() >= block) return fill_normal_blocks(*this, out, static_cast<float>(mean), static_cast<float>(std));
  for (float& x : out) x = static_cast<float>(std::fma(standard_normal(), std, mean));
}

void Generator::normal(std::span<double> out, double mean, double std) const {
  check_in("normal", std >= 0, "standard deviation ", std, " is not at or above 0");
  if (out.size() >= block) return fill_normal_blocks(*this, out, mean, std);
  for (double& x : out) x = std::fma(standard_normal(), std, mean);
}

void Generator::uniform_float32(std::span<real> out, double low, double high) const {
  if constexpr (std::is_same_v<real, float>) return uniform(out, low, high);
  std::vector<float> drawn(out.size());
  uniform(std::span<float>(drawn), low, high);
  std::copy(drawn.begin(), drawn.end(), out.begin());
}

void Generator::normal_float32(std::span<real> out, double mean, double std) const {
  if constexpr (std::is_same_v<real, float>) return normal(out, mean, std);
  std::vector<float> drawn(out.size());
  normal(std::span<float>(drawn), mean, std);
  std::copy(drawn.begin(), drawn.end(), out.begin());
}

void Generator::randint(std::span<std::int64_t> out, std::int64_t low, std::int64_t high) const {
  check_in("randint", low < high, "low ", low, " is not below high ", high);
  // Unsigned: the range may be as wide as 2^64 - 1, and sums wrap to the right int64.
  const std::uint64_t first = static_cast<std::uint64_t>(low), range = static_cast<std::uint64_t>(high) - first;
  const bool wide = range >= (std::uint64_t(1) << 28);
  for (std::int64_t& x : out) {
    const std::uint64_t word = wide ? next_u64() : next_u32();
    x = static_cast<std::int64_t>(first + word % range);
  }
}

std::int64_t Generator::random_int64() const { return static_cast<std::int64_t>(next_u64() & 0x7FFFFFFFFFFFFFFF); }

std::vector<std::int64_t> Generator::randperm(std::int64_t n) const {
  constexpr std::int64_t limit = (std::int64_t(1) << 32) / 20;
  check_in("randperm", n >= 0 && n < limit, "n = ", n, " is outside [0, ", limit, ")");
  std::vector<std::int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), std::int64_t(0));
  for (std::size_t i = 0; i + 1 < order.size(); ++i) std::swap(order[i], order[i + next_u32() % (order.size() - i)]);
  return order;
}

void Generator::bernoulli(std::span<std::uint8_t> out, double p) const {
  check_in("bernoulli", p >= 0 && p <= 1, "probability ", p, " is outside [0, 1]");
  for (std::uint8_t& x : out) x = uniform_double() < p;
}

}  // namespace mote
