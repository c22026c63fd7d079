// Turning bytes into whole characters and into text that can be shown.
#include "engine/io/text/utf8_stream.h"

#include <algorithm>
#include <utility>

#include "engine/io/text/utf8.h"

namespace mote {
namespace {

constexpr const char* replacement = "\xef\xbf\xbd";  // U+FFFD

/// Whether a character changes the direction in which the following text is written.
bool turns_direction(unsigned code) { return (code >= 0x202a && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069); }

}  // namespace

std::string Utf8Stream::add(std::string_view bytes) {
  const std::string all = std::exchange(held_, {}).append(bytes);
  std::string shown;
  for (std::size_t at = 0; at < all.size();) {
    const auto [seen, whole] = detail::utf8_beginning(all, at);
    if (whole)
      shown.append(all, at, seen);
    else if (seen > 0 && at + seen == all.size())
      held_ = all.substr(at);
    else
      shown += replacement;
    at += std::max<std::size_t>(seen, 1);
  }
  return shown;
}

std::string Utf8Stream::finish() { return std::exchange(held_, {}).empty() ? "" : replacement; }

std::string valid_utf8(std::string_view bytes) {
  Utf8Stream stream;
  std::string text = stream.add(bytes);
  return text += stream.finish();
}

std::string readable_text(std::string_view text, std::string_view kept) {
  const std::string valid = valid_utf8(text);
  std::string out;
  for (std::size_t i = 0, length = 0; i < valid.size(); i += length) {
    const auto [bytes, code] = detail::character_at(valid, i);
    length = bytes;
    const unsigned c = code.value_or(0);
    if (kept.find(valid[i]) != std::string_view::npos)
      out += valid[i];
    else if (c < 0x20 || c == 0x7f)
      out += detail::utf8_text(c == 0x7f ? 0x2421 : 0x2400 + c);
    else if (detail::is_control(c) || turns_direction(c))
      out += replacement;
    else
      out.append(valid, i, length);
  }
  return out;
}

std::string markup_text(std::string_view text, std::string_view kept) {
  static constexpr std::string_view special = "&<>\"'";
  static constexpr const char* escapes[] = {"&amp;", "&lt;", "&gt;", "&quot;", "&#39;"};
  std::string out;
  for (const char c : readable_text(text, kept))
    if (const std::size_t which = special.find(c); which != std::string_view::npos)
      out += escapes[which];
    else
      out += c;
  return out;
}

}  // namespace mote
