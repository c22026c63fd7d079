// fma and fmaf rounded once, where the C library rounds them twice: that of MinGW, whose functions these replace. Equal
// bits on every machine rest on them; elsewhere this file is empty.
#if defined(__MINGW32__)
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

namespace {

__extension__ using Wide = unsigned __int128;

/// |x| = mantissa 2^exponent, with bit 52 of the mantissa set. x is finite and not 0.
struct Parts {
  int exponent;
  std::uint64_t mantissa;
  explicit Parts(double x) : mantissa(static_cast<std::uint64_t>(std::ldexp(std::frexp(std::abs(x), &exponent), 53))) {
    exponent -= 53;
  }
};

int bit_length(Wide x) {
  const auto high = static_cast<std::uint64_t>(x >> 64), low = static_cast<std::uint64_t>(x);
  return high ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
}

/// x / 2^n, its last bit set if anything fell off: enough to round by, as long as the rounding is further up.
Wide shift_sticky(Wide x, int n) { return n >= 127 ? Wide(x != 0) : (x >> n) | Wide((x & ((Wide(1) << n) - 1)) != 0); }

/// x 2^exponent as the nearest double, of two equally near ones the even one.
double nearest(Wide x, int exponent) {
  const int length = bit_length(x), drop = std::max(length - 53, -1074 - exponent);
  if (drop <= 0) return std::ldexp(static_cast<double>(static_cast<std::uint64_t>(x)), exponent);
  if (drop > length) return 0;
  const Wide half = Wide(1) << (drop - 1), rest = x & (2 * half - 1);
  std::uint64_t kept = static_cast<std::uint64_t>(x >> drop);
  if (rest > half || (rest == half && (kept & 1))) ++kept;
  return std::ldexp(static_cast<double>(kept), exponent + drop);
}

}  // namespace

extern "C" double fma(double a, double b, double c) {
  if (!std::isfinite(a) || !std::isfinite(b) || a == 0 || b == 0) return a * b + c;
  if (!std::isfinite(c)) return c;  // whatever a b overflows to
  if (c == 0) return a * b;
  const Parts x(a), y(b), z(c);
  // Product and summand at one exponent in 127 bits. The product has 105 or 106 bits and so room for 20 more, the
  // summand for 73; whoever lies further below is so small that it only decides how the sum rounds.
  Wide product = Wide(x.mantissa) * y.mantissa, summand = z.mantissa;
  const int at = x.exponent + y.exponent, gap = z.exponent - at;
  const int exponent = gap >= 0 ? at + std::max(gap - 73, 0) : at - std::min(-gap, 20);
  product = exponent > at ? shift_sticky(product, exponent - at) : product << (at - exponent);
  summand = exponent > z.exponent ? shift_sticky(summand, exponent - z.exponent) : summand << (z.exponent - exponent);
  const bool minus = std::signbit(a) != std::signbit(b);
  if (minus == std::signbit(c)) return std::copysign(nearest(product + summand, exponent), minus ? -1.0 : 1.0);
  if (product == summand) return 0;
  const bool product_wins = product > summand;
  const Wide difference = product_wins ? product - summand : summand - product;
  return std::copysign(nearest(difference, exponent), product_wins == minus ? -1.0 : 1.0);
}

/// The product of two floats is a double; a sum of doubles that is exact but for its last bit, which is 1 if anything
/// fell off ("rounded to odd"), rounds to the float nearest to the true sum (Boldo and Melquiond, 2008).
extern "C" float fmaf(float a, float b, float c) {
  const double p = static_cast<double>(a) * static_cast<double>(b), z = static_cast<double>(c), s = p + z;
  const double z_seen = s - p, error = (p - (s - z_seen)) + (z - z_seen);  // Knuth's TwoSum: s + error == p + z
  std::uint64_t bits = std::bit_cast<std::uint64_t>(s);
  if (std::isfinite(s) && error != 0 && (bits & 1) == 0) bits += (s > 0) == (error > 0) ? 1 : -std::uint64_t(1);
  return static_cast<float>(std::bit_cast<double>(bits));
}
#endif
