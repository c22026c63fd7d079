// The safetensors header: limits, names and checksums that the reader and the writer share.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/io/files/crc32.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"

namespace mote {

/// A name to be quoted in an error. Of a long name only the beginning is shown.
struct Quoted {
  std::string_view name;
};
inline std::string text_of(const Quoted& quoted) { return '\'' + detail::shortened(quoted.name) + '\''; }

namespace detail {

constexpr std::uint64_t largest_header = 100'000'000;  ///< bytes; the reference implementation's limit
constexpr std::size_t most_metadata = 2'000;           ///< entries
constexpr const char* metadata_name = "__metadata__";
constexpr const char* header_crc_name = "mote.crc32.header";    ///< in the metadata; 8 hexadecimal digits
constexpr const char* tensor_crcs_name = "mote.crc32.tensors";  ///< 8 digits per tensor in file order, space-separated

inline std::string crc_text(std::uint32_t crc) { return hex_text(crc, 8); }

/// Finds the 8 digits of a header's own CRC-32 in the header, and returns their position, or npos if there are none.
/// Text inside another entry cannot be mistaken for the entry of the CRC-32, because a quotation mark inside a text has
/// a backslash before it.
inline std::size_t header_crc_at(std::string_view header) {
  const std::string before = std::string(1, '"').append(header_crc_name).append("\":\"");
  const std::size_t at = header.find(before);
  return at == std::string_view::npos || header.size() - at < before.size() + 8 ? std::string_view::npos
                                                                                : at + before.size();
}

/// The CRC-32 of a header, computed with zeros in place of the 8 digits from position `at` on. So the CRC-32 can be
/// stored in these digits of the header.
inline std::uint32_t header_crc(std::string_view header, std::size_t at) {
  const std::uint32_t before = crc32("00000000", 8, crc32(header.data(), at));
  return crc32(header.data() + at + 8, header.size() - at - 8, before);
}

}  // namespace detail

}  // namespace mote
