// Decoding UTF-8, escaping for XML.
#include "engine/io/xml.h"

#include <array>

namespace mote::detail {

std::pair<std::size_t, unsigned> character_at(const std::string& text, std::size_t i) {
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

std::string xml_character(const std::string& text, std::size_t i) {
  const auto [length, code] = character_at(text, i);
  switch (code) {
    case '&':
      return "&amp;";
    case '<':
      return "&lt;";
    case '>':
      return "&gt;";
    case '"':
      return "&quot;";
    case '\'':
      return "&apos;";
    case '\n':
      return "\\n";
    case '\t':
      return "\\t";
    default:
      break;
  }
  const bool control = code < 32 || (code >= 0x7f && code < 0xa0) || code == 0xfffe || code == 0xffff;
  return control ? "?" : text.substr(i, length);
}

std::string xml_text(const std::string& text) {
  std::string xml;
  for (std::size_t i = 0; i < text.size(); i += character_at(text, i).first) xml += xml_character(text, i);
  return xml;
}

}  // namespace mote::detail
