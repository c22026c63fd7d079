// CRC-32 against its definition, one bit at a time.
#include "engine/io/files/crc32.h"

#include <doctest/doctest.h>

#include <vector>

namespace mote::test::crc32_test {
namespace {

using Bytes = std::vector<unsigned char>;

std::uint32_t by_bits(const unsigned char* p, std::size_t bytes) {
  std::uint32_t crc = 0xFFFFFFFFu;
  for (std::size_t i = 0; i < bytes; ++i) {
    crc ^= p[i];
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  return ~crc;
}

Bytes some_bytes(std::size_t n) {
  Bytes bytes(n);
  std::uint32_t x = 12345;
  for (unsigned char& b : bytes) b = static_cast<unsigned char>((x = x * 1664525u + 1013904223u) >> 24);
  return bytes;
}

TEST_CASE("crc32: published values") {
  CHECK(crc32("123456789", 9) == 0xCBF43926u);
  CHECK(crc32("", 0) == 0);
  CHECK(crc32("", 0, 0xCBF43926u) == 0xCBF43926u);
  CHECK(crc32(Bytes(32).data(), 32) == 0x190A55ADu);
  CHECK(crc32(Bytes(32, 255).data(), 32) == 0xFF6CAB0Bu);
}

TEST_CASE("crc32: the definition, for every length and alignment, at once and in two parts") {
  const Bytes bytes = some_bytes(600);
  for (std::size_t start = 0; start < 17; ++start)
    for (std::size_t n = 0; n < 300; ++n) {
      const unsigned char* const p = bytes.data() + start;
      const std::uint32_t expected = by_bits(p, n);
      const std::size_t first = n * start / 17;
      REQUIRE(crc32(p, n) == expected);
      REQUIRE(crc32(p + first, n - first, crc32(p, first)) == expected);
    }
}

TEST_CASE("crc32: long data") {
  const Bytes bytes = some_bytes(100'003);
  CHECK(crc32(bytes.data(), bytes.size()) == by_bits(bytes.data(), bytes.size()));
}

}  // namespace
}  // namespace mote::test::crc32_test
