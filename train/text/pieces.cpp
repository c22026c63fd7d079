// GPT-2's pattern without a regular expression. The class of a piece's first character decides how the piece goes on,
// so there is no backtracking.
#include "train/text/pieces.h"

#include <algorithm>
#include <span>

#include "engine/io/text/utf8.h"
#include "train/text/unicode_tables.h"

namespace mote {
namespace {

/// Whether a code lies in a range. `borders` has the first code of each range and the code after its last, in rising
/// order. So a code lies in a range if an odd number of borders is at or below it.
bool lies_within(std::span<const unsigned> borders, unsigned code) {
  return (std::upper_bound(borders.begin(), borders.end(), code) - borders.begin()) % 2 == 1;
}

/// The length of the contraction that begins a text, or 0.
std::size_t contraction(std::string_view text) {
  for (const std::string_view ending : {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"})
    if (text.starts_with(ending)) return ending.size();
  return 0;
}

struct Seen {
  std::size_t length;
  CharacterClass kind;
};
Seen look(std::string_view text, std::size_t at) {
  const auto [length, code] = detail::character_at(text, at);
  return {length, class_of(code.value_or(0))};
}

}  // namespace

CharacterClass class_of(unsigned code) {
  if (code < 0x80) {
    if ((code | 0x20u) >= 'a' && (code | 0x20u) <= 'z') return CharacterClass::letter;
    if (code >= '0' && code <= '9') return CharacterClass::number;
    return code == ' ' || (code >= '\t' && code <= '\r') ? CharacterClass::space : CharacterClass::other;
  }
  if (lies_within(detail::letter_borders, code)) return CharacterClass::letter;
  if (lies_within(detail::number_borders, code)) return CharacterClass::number;
  return lies_within(detail::space_borders, code) ? CharacterClass::space : CharacterClass::other;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t at = 0; at < text.size(); at += lines.back().size() + 1)
    lines.push_back(text.substr(at, text.find('\n', at) - at));
  for (std::string_view& line : lines)
    if (line.ends_with('\r')) line.remove_suffix(1);
  return lines;
}

std::size_t piece_end(std::string_view text, std::size_t at) {
  if (const std::size_t length = contraction(text.substr(at))) return at + length;
  Seen first = look(text, at);
  std::size_t next = at;
  if (first.kind == CharacterClass::space) {
    std::size_t last = at;  // the last white space so far
    for (next = at + first.length; next < text.size(); next += first.length) {
      first = look(text, next);
      if (first.kind != CharacterClass::space) break;
      last = next;
    }
    if (next == text.size()) return next;
    if (last > at) return last;
    if (text[at] != ' ') return next;
  }
  const CharacterClass kind = first.kind;
  do next += first.length;
  while (next < text.size() && (first = look(text, next)).kind == kind);
  return next;
}

}  // namespace mote
