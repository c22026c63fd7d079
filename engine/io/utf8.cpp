// Decoding and encoding UTF-8.
#include "engine/io/utf8.h"

#include <array>

namespace mote::detail {

std::pair<std::size_t, unsigned> character_at(std::string_view text, std::size_t i) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0u; };
  const unsigned lead = byte(i);
  if (lead < 0x80) return {1, lead};
  const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  unsigned code = lead & (0x7fu >> length);
  for (std::size_t k = 1; k < length; ++k) {
    if ((byte(i + k) & 0xc0u) != 0x80u) return {1, 0};
    code = code << 6 | (byte(i + k) & 0x3fu);
  }
  static constexpr std::array<unsigned, 5> least{0, 0, 0x80, 0x800, 0x10000};
  const bool valid =
      lead >= 0xc2 && lead <= 0xf4 && code >= least[length] && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff);
  return valid ? std::pair(length, code) : std::pair<std::size_t, unsigned>(1, 0);
}

std::string repaired_utf8(std::string_view text) {
  std::string whole;
  for (std::size_t i = 0; i < text.size();) {
    const auto [length, code] = character_at(text, i);
    if (code == 0 && text[i] != '\0')
      whole += utf8_text(0xfffd);
    else
      whole += text.substr(i, length);
    i += length;
  }
  return whole;
}

std::string utf8_text(unsigned code) {
  const auto tail = [&](int shift) { return static_cast<char>(0x80u | (code >> shift & 0x3fu)); };
  if (code < 0x80) return {static_cast<char>(code)};
  if (code < 0x800) return {static_cast<char>(0xc0u | code >> 6), tail(0)};
  if (code < 0x10000) return {static_cast<char>(0xe0u | code >> 12), tail(6), tail(0)};
  return {static_cast<char>(0xf0u | code >> 18), tail(12), tail(6), tail(0)};
}

}  // namespace mote::detail
