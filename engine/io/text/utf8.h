// Decoding and encoding UTF-8, and hexadecimal digits for escapes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mote::detail {

/// The number of bytes from text[i] on that are a UTF-8 character or the beginning of one, and whether they are the
/// whole character. The number is 0 if no character can begin with text[i]. i must be below text.size().
struct Utf8Beginning {
  std::size_t bytes;
  bool whole;
};
Utf8Beginning utf8_beginning(std::string_view text, std::size_t i);

/// The length and code of the UTF-8 character that starts at text[i], or 1 and no code if no character starts there.
std::pair<std::size_t, std::optional<unsigned>> character_at(std::string_view text, std::size_t i);

/// Whether a text is valid UTF-8.
bool is_utf8(std::string_view text);

/// Whether a code is a control character, or one of the noncharacters U+FFFE and U+FFFF.
bool is_control(unsigned code);

/// The UTF-8 bytes of the character with this code. The code must be at most 0x10ffff and not a surrogate.
std::string utf8_text(unsigned code);

/// The last `digits` hexadecimal digits of a number.
std::string hex_text(unsigned number, int digits);

}  // namespace mote::detail
