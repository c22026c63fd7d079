// CRC-32 of IEEE 802.3, as in zlib, gzip and PNG.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mote {

/// The CRC-32 of some bytes: reflected polynomial 0xEDB88320, initial value and final XOR 0xFFFFFFFF. The CRC-32 of
/// "123456789" is 0xCBF43926. `before` is the CRC-32 of the bytes that precede these, so crc32(b, m, crc32(a, n)) is
/// the CRC-32 of a followed by b.
std::uint32_t crc32(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace mote
