// Bytes as they come, turned into whole characters.
#include "engine/io/text/utf8_stream.h"

#include <algorithm>
#include <utility>

#include "engine/io/text/utf8.h"

namespace mote {
namespace {

constexpr const char* replacement = "\xef\xbf\xbd";  // U+FFFD

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
  const std::string whole = valid_utf8(text);
  std::string out;
  for (std::size_t i = 0; i < whole.size();) {
    const auto [length, found] = detail::character_at(whole, i);
    const unsigned code = found.value_or(0xfffd);
    if (!detail::is_control(code) ||
        (code != 0 && code < 0x80 && kept.find(static_cast<char>(code)) != std::string_view::npos))
      out += whole.substr(i, length);
    else
      out += detail::utf8_text(code < 0x20 ? 0x2400 + code : code == 0x7f ? 0x2421 : 0xfffd);
    i += length;
  }
  return out;
}

}  // namespace mote
