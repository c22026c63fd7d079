// UTF-8: a character of a text, the bytes of a character, text that may have bytes of neither.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace mote::detail {

/// The length and code of the UTF-8 character that starts at text[i], or 1 and 0 if none does.
std::pair<std::size_t, unsigned> character_at(std::string_view text, std::size_t i);

/// The text with U+FFFD for each byte that is no part of a UTF-8 character: what JSON and HTML can hold.
std::string repaired_utf8(std::string_view text);

/// The bytes of the character with this code, which is at most 0x10ffff and no surrogate.
std::string utf8_text(unsigned code);

}  // namespace mote::detail
