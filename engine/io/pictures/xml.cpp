// Escaping for XML.
#include "engine/io/pictures/xml.h"

namespace mote::detail {

std::string xml_character(const std::string& text, std::size_t i) {
  const auto [length, code] = character_at(text, i);
  switch (code.value_or(0)) {
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
  return !code || is_control(*code) ? "?" : text.substr(i, length);
}

std::string xml_text(const std::string& text) {
  std::string xml;
  for (std::size_t i = 0; i < text.size(); i += character_at(text, i).first) xml += xml_character(text, i);
  return xml;
}

}  // namespace mote::detail
