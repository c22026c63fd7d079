// fma and fmaf rounded once, where the C library rounds them twice: that of MinGW, whose functions these replace. Equal
// bits on every machine rest on them; elsewhere this file is empty.
#if defined(__MINGW32__)
#include <cstdint>
#include <utility>

namespace {

__extension__ using Quad = __float128;
__extension__ using QuadBits = unsigned __int128;

/// a b + c in a type that holds every product of two T exactly. A sum that is exact but for its last bit, which is 1 if
/// anything fell off ("rounded to odd"), rounds to the T nearest to the true sum (Boldo and Melquiond, 2008).
template <class Wide, class Bits, class T>
T multiply_add(T a, T b, T c) {
  Wide larger = Wide(a) * Wide(b), smaller = Wide(c);
  if ((larger < 0 ? -larger : larger) < (smaller < 0 ? -smaller : smaller)) std::swap(larger, smaller);
  const Wide sum = larger + smaller, error = smaller - (sum - larger);  // Dekker: sum + error == larger + smaller
  Bits bits = __builtin_bit_cast(Bits, sum);
  const bool inexact = error < 0 || error > 0;  // false where something is infinite or NaN
  if (inexact && (bits & 1) == 0) bits += (sum > 0) == (error > 0) ? Bits(1) : -Bits(1);
  return static_cast<T>(__builtin_bit_cast(Wide, bits));
}

}  // namespace

extern "C" double fma(double a, double b, double c) { return multiply_add<Quad, QuadBits>(a, b, c); }
extern "C" float fmaf(float a, float b, float c) { return multiply_add<double, std::uint64_t>(a, b, c); }
#endif
