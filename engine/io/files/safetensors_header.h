// What the reader and the writer of safetensors both know of its header.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "engine/io/files/crc32.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"

namespace mote {

/// A name in an error: in quotation marks, and of a long one the beginning.
struct Quoted {
  std::string_view name;
};
inline std::string text_of(const Quoted& quoted) { return '\'' + detail::shortened(quoted.name) + '\''; }

namespace detail {

constexpr std::uint64_t largest_header = 100'000'000;  ///< bytes; the reference implementation's limit
constexpr std::size_t most_metadata = 2'000;           ///< entries
constexpr const char* metadata_name = "__metadata__";
constexpr const char* header_crc_name = "mote.crc32.header";    ///< in the metadata: 8 digits
constexpr const char* tensor_crcs_name = "mote.crc32.tensors";  ///< 8 digits for each in the order of the file; spaces

inline std::string crc_text(std::uint32_t crc) { return hex_text(crc, 8); }

/// Where the digits of a header's own CRC-32 stand in it; npos if there are none. No name and no text can be taken for
/// them: there, a quotation mark stands behind a backslash.
inline std::size_t header_crc_at(std::string_view header) {
  const std::string before = std::string(1, '"').append(header_crc_name).append("\":\"");
  const std::size_t at = header.find(before);
  return at == std::string_view::npos || header.size() - at < before.size() + 8 ? std::string_view::npos
                                                                                : at + before.size();
}

/// The CRC-32 of a header with zeros in that place, so that it can be part of what it protects.
inline std::uint32_t header_crc(std::string_view header, std::size_t at) {
  const std::uint32_t before = crc32("00000000", 8, crc32(header.data(), at));
  return crc32(header.data() + at + 8, header.size() - at - 8, before);
}

}  // namespace detail

}  // namespace mote
