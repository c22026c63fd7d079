// The checksums that mote keeps in a safetensors file's metadata.
#pragma once

#include <cstdint>
#include <string>

namespace mote::detail {

/// Eight hexadecimal digits.
std::string checksum_text(std::uint32_t crc);

/// That of a header in which `sum`, the value of "crc32", is replaced by zeros: so it can stand in the header itself.
std::string header_checksum(std::string header, const std::string& sum);

}  // namespace mote::detail
