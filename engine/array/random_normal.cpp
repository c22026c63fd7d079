// Normal values, by PyTorch's two methods: blocks of 16 in the requested type, and pairs in double for small sizes.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <utility>

#include "engine/array/random.h"
#include "engine/base/check.h"
#include "engine/base/math.h"

namespace mote {
namespace {

constexpr double two_pi = 6.283185307179586;
constexpr std::size_t block = 16;  // how many normals are drawn at a time

/// Natural logarithm of u in (0, 1], by S. Moshier's Cephes polynomial as PyTorch's AVX2 kernel evaluates it.
/// u = x * 2^e with x near 1; log u = log(x) + e log 2, where log 2 is split in two floats (0.693.. - 2.12e-4).
float block_log(float u) {
  constexpr float coefficients[] = {-1.1514610310e-1f, 1.1676998740e-1f, -1.2420140846e-1f, 1.4249322787e-1f,
                                    -1.6668057665e-1f, 2.0000714765e-1f, -2.4999993993e-1f, 3.3333331174e-1f};
  std::uint32_t bits = 0;
  std::memcpy(&bits, &u, sizeof bits);
  float e = static_cast<float>(static_cast<int>(bits >> 23) - 126);
  bits = (bits & 0x007FFFFFu) | 0x3F000000u;
  float fraction = 0;  // in [0.5, 1)
  std::memcpy(&fraction, &bits, sizeof fraction);
  float x = fraction - 1.0f;
  if (fraction < 0.707106781186547524f) {  // 2 * fraction is used below sqrt(1/2), so that |x| stays small
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

/// Sine and cosine of t in [0, 2 pi), also from Cephes. j is t in eighths of a turn, rounded to an even number. pi/4 is
/// split into three parts to compute x = t - j pi/4. j selects the polynomials and the signs of sine and cosine.
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

/// Box-Muller on one block, in place: 16 units become 16 normals. Units k and k + 8 form a pair. Unit k gives the
/// radius, and unit k + 8 gives the angle. The logarithm is taken of 1 - unit, which is never zero.
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

}  // namespace

/// One standard normal, by the method for small sizes. Unlike in normal_block, the second unit gives the radius and the
/// first gives the angle.
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

/// Fewer than 16 elements are drawn in pairs, others in blocks of 16. If the last block would be short, the last 16
/// elements are drawn again instead, which overwrites finished normals. PyTorch does the same.
template <class T>
void Generator::fill_normal(std::span<T> out, double mean, double std) const {
  check_in("normal", std >= 0, "standard deviation ", std, " must be at least 0");
  if (out.size() < block) {
    for (T& x : out) x = static_cast<T>(std::fma(standard_normal(), std, mean));
    return;
  }
  const auto fill = [&](std::span<T> units) {
    uniform(units);  // fills `units` with numbers uniform in [0, 1)
    for (std::size_t i = 0; i + block <= units.size(); i += block)
      normal_block(&units[i], static_cast<T>(mean), static_cast<T>(std));
  };
  fill(out);
  if (out.size() % block != 0) fill(out.last(block));
}

void Generator::normal(std::span<float> out, Real mean, Real std) const { fill_normal(out, mean, std); }
void Generator::normal(std::span<double> out, Real mean, Real std) const { fill_normal(out, mean, std); }

}  // namespace mote
