// UTF-8: a character of a text, and the bytes of a character.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

namespace mote::detail {

/// The length and code of the UTF-8 character that starts at text[i], or 1 and 0 if none does.
std::pair<std::size_t, unsigned> character_at(std::string_view text, std::size_t i);

/// The bytes of the character with this code, which is at most 0x10ffff and no surrogate.
std::string utf8_text(unsigned code);

}  // namespace mote::detail
