// UTF-8: a character of a text, the bytes of a character; and the digits that escapes are written with.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace mote::detail {

/// How many bytes from text[i] on, i below the size, begin a character, 0 if no character begins so; and whether they
/// are all of it.
struct Utf8Beginning {
  std::size_t bytes;
  bool whole;
};
Utf8Beginning utf8_beginning(std::string_view text, std::size_t i);

/// The length and code of the UTF-8 character that starts at text[i], or 1 and no code if none does.
std::pair<std::size_t, std::optional<unsigned>> character_at(std::string_view text, std::size_t i);

/// Whether a text consists of such characters.
bool is_utf8(std::string_view text);

/// Whether a character is one that controls instead of being seen, or a noncharacter, U+FFFE or U+FFFF.
bool is_control(unsigned code);

/// The bytes of the character with this code, which is at most 0x10ffff and no surrogate.
std::string utf8_text(unsigned code);

/// The last `digits` hexadecimal digits of a number.
std::string hex_text(unsigned number, int digits);

}  // namespace mote::detail
