// CRC-32 by tables, sixteen bytes at a time (Kounavis and Berry, 2005: slicing), and by carry-less products where the
// processor has them (Gopal et al., 2009: Fast CRC Computation for Generic Polynomials Using PCLMULQDQ).
#include "engine/io/files/crc32.h"

#include <array>
#include <bit>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define MOTE_CRC32_PRODUCTS 1
#endif

namespace mote {

namespace {

constexpr std::uint32_t reversed_polynomial = 0xEDB88320u;  // bit 31 is the coefficient of x^0
constexpr std::size_t slices = 16;
using Table = std::array<std::array<std::uint32_t, 256>, slices>;

constexpr std::uint32_t times_x(std::uint32_t p) { return p & 1 ? p >> 1 ^ reversed_polynomial : p >> 1; }

/// table[k][b]: what byte b adds to the CRC when k bytes follow it.
constexpr Table make_table() {
  Table table{};
  for (std::uint32_t b = 0; b < 256; ++b) {
    table[0][b] = b;
    for (int bit = 0; bit < 8; ++bit) table[0][b] = times_x(table[0][b]);
  }
  for (std::size_t k = 1; k < slices; ++k)
    for (std::size_t b = 0; b < 256; ++b) table[k][b] = table[k - 1][b] >> 8 ^ table[0][table[k - 1][b] & 0xFF];
  return table;
}
constexpr Table table = make_table();

std::uint32_t word(const unsigned char* p) {  // little-endian, from any address
  if constexpr (std::endian::native == std::endian::little) {
    std::uint32_t w;
    std::memcpy(&w, p, sizeof w);
    return w;
  }
  return p[0] | static_cast<std::uint32_t>(p[1]) << 8 | static_cast<std::uint32_t>(p[2]) << 16 |
         static_cast<std::uint32_t>(p[3]) << 24;
}

std::uint32_t four(std::size_t k, std::uint32_t w) {  // four bytes that k bytes follow
  return table[k + 3][w & 0xFF] ^ table[k + 2][w >> 8 & 0xFF] ^ table[k + 1][w >> 16 & 0xFF] ^ table[k][w >> 24];
}

/// The rest of the division of the bytes by the polynomial, after `rest` of what came before.
std::uint32_t by_tables(const unsigned char* p, std::size_t bytes, std::uint32_t rest) {
  for (; bytes >= 16; bytes -= 16, p += 16)
    rest = four(12, rest ^ word(p)) ^ four(8, word(p + 4)) ^ four(4, word(p + 8)) ^ four(0, word(p + 12));
  for (; bytes > 0; --bytes, ++p) rest = rest >> 8 ^ table[0][(rest ^ *p) & 0xFF];
  return rest;
}

#ifdef MOTE_CRC32_PRODUCTS
constexpr long long power_of_x(int n) {  // x^n modulo the polynomial, as the product of reflected numbers wants it
  std::uint32_t p = 0x80000000u;
  for (int i = 0; i < n; ++i) p = times_x(p);
  return static_cast<long long>(p) << 1;
}

/// Moves 16 bytes ahead by the bits whose two powers are in `k` and adds them to the 16 bytes that stand there.
[[gnu::target("pclmul")]] inline __m128i fold(__m128i x, __m128i k, __m128i there) {
  return _mm_xor_si128(_mm_xor_si128(_mm_clmulepi64_si128(x, k, 0x00), _mm_clmulepi64_si128(x, k, 0x11)), there);
}

/// As by_tables, for at least 64 bytes.
[[gnu::target("pclmul")]] std::uint32_t by_products(const unsigned char* p, std::size_t bytes, std::uint32_t rest) {
  const auto load = [](const unsigned char* from) { return _mm_loadu_si128(reinterpret_cast<const __m128i*>(from)); };
  constexpr long long k64[2] = {power_of_x(512 + 32), power_of_x(512 - 32)};
  constexpr long long k16[2] = {power_of_x(128 + 32), power_of_x(128 - 32)};
  const __m128i by_64 = _mm_set_epi64x(k64[1], k64[0]), by_16 = _mm_set_epi64x(k16[1], k16[0]);
  __m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128(static_cast<int>(rest)));
  __m128i b = load(p + 16), c = load(p + 32), d = load(p + 48);
  for (p += 64, bytes -= 64; bytes >= 64; p += 64, bytes -= 64) {
    a = fold(a, by_64, load(p));
    b = fold(b, by_64, load(p + 16));
    c = fold(c, by_64, load(p + 32));
    d = fold(d, by_64, load(p + 48));
  }
  a = fold(fold(fold(a, by_16, b), by_16, c), by_16, d);
  for (; bytes >= 16; p += 16, bytes -= 16) a = fold(a, by_16, load(p));
  unsigned char last[16];
  _mm_storeu_si128(reinterpret_cast<__m128i*>(last), a);
  return by_tables(p, bytes, by_tables(last, sizeof last, 0));
}
#endif

}  // namespace

std::uint32_t crc32(const void* data, std::size_t bytes, std::uint32_t before) {
  const auto* const p = static_cast<const unsigned char*>(data);
#ifdef MOTE_CRC32_PRODUCTS
  static const bool products = __builtin_cpu_supports("pclmul") != 0;
  if (products && bytes >= 64) return ~by_products(p, bytes, ~before);
#endif
  return ~by_tables(p, bytes, ~before);
}

}  // namespace mote
