// Decoding and encoding UTF-8.
#include "engine/io/text/utf8.h"

namespace mote::detail {

Utf8Beginning utf8_beginning(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned>(static_cast<unsigned char>(text[i + k])); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, true};
  if (lead < 0xc2 || lead > 0xf4) return {0, false};
  // The range of the second byte excludes overlong forms, surrogates, and codes above 0x10ffff.
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  const unsigned least = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
  const unsigned most = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
  std::size_t seen = 1;
  for (; seen < length && i + seen < text.size(); ++seen) {
    const unsigned next = byte(seen);
    if (next < (seen == 1 ? least : 0x80) || next > (seen == 1 ? most : 0xbf)) break;
  }
  return {seen, seen == length};
}

std::pair<std::size_t, std::optional<unsigned>> character_at(std::string_view text, std::size_t i) {
  if (i >= text.size()) return {1, {}};
  const auto [length, whole] = utf8_beginning(text, i);
  if (!whole) return {1, {}};
  const auto byte = [&](std::size_t k) { return static_cast<unsigned>(static_cast<unsigned char>(text[i + k])); };
  unsigned code = length == 1 ? byte(0) : byte(0) & (0x7fu >> length);
  for (std::size_t k = 1; k < length; ++k) code = code << 6 | (byte(k) & 0x3fu);
  return {length, code};
}

bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto [length, whole] = utf8_beginning(text, i);
    if (!whole) return false;
    i += length;
  }
  return true;
}

bool is_control(unsigned code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff;
}

std::string utf8_text(unsigned code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80u | (code >> shift & 0x3fu)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0u | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0u | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0u | code >> 18), tail(12), tail(6), tail(0)};
}

std::string hex_text(unsigned number, int digits) {
  std::string text;
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) text += "0123456789abcdef"[number >> shift & 15];
  return text;
}

}  // namespace mote::detail
