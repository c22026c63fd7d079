// Cuts a text into lines, and into the pieces within which GPT-2 merges bytes: words, numbers, punctuation and white
// space.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

namespace mote {

/// The kinds of characters that GPT-2 splits a text by.
enum class CharacterClass { letter, number, space, other };

/// The class of the character with this code, in the Unicode version of train/text/unicode_tables.h. A byte that is
/// not UTF-8 has code 0 and is `other`.
CharacterClass class_of(unsigned code);

/// The lines of a text without their line endings, \n or \r\n.
std::vector<std::string_view> lines_of(std::string_view text);

/// The end of the piece that begins at byte `at` of a text. Pieces are the matches of GPT-2's pattern:
///
///     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
///
/// A space belongs to the word after it. If there are several characters of white space before a word, the last of them
/// belongs to the next piece.
std::size_t piece_end(std::string_view text, std::size_t at);

}  // namespace mote
