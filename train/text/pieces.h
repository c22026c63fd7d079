// How a text is cut: into lines, and, as GPT-2 does it before it merges bytes, into words, numbers, punctuation, white
// space.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace mote {

enum class CharacterClass { letter, number, space, other };

/// The class of the character with this code, as of the Unicode version of train/text/unicode_tables.h. A byte that is
/// no UTF-8 has code 0 and is `other`.
CharacterClass class_of(unsigned code);

/// The lines of a text, without their ends, which may be those of Windows.
std::vector<std::string_view> lines_of(std::string_view text);

/// The end of the piece that begins at byte `at` of a text. Pieces are those of GPT-2's pattern
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// so that a space belongs to the word behind it, and of a longer gap the last character is left to what follows.
std::size_t piece_end(std::string_view text, std::size_t at);

}  // namespace mote
