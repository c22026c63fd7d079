// CRC-32 of IEEE 802.3, as in zlib, gzip and PNG.
#pragma once

#include <cstddef>
#include <cstdint>

namespace mote {

/// The CRC-32 of some bytes: reflected polynomial 0xEDB88320, all ones before and after; that of "123456789" is
/// 0xCBF43926. `before` is the CRC of the bytes that came before these: crc32(b, m, crc32(a, n)) is that of a and b
/// joined.
std::uint32_t crc32(const void* data, std::size_t bytes, std::uint32_t before = 0);

}  // namespace mote
