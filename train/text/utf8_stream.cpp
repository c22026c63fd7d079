// Bytes as they come, turned into whole characters.
#include "train/text/utf8_stream.h"

#include <utility>

namespace mote {
namespace {

constexpr const char* replacement = "\xef\xbf\xbd";  // U+FFFD

struct Lead {
  std::size_t length;    // of the character, 0 if no character begins so
  unsigned least, most;  // of its second byte
};
Lead lead_of(unsigned byte) {
  if (byte < 0x80) return {1, 0, 0};
  if (byte < 0xc2 || byte > 0xf4) return {0, 0, 0};
  if (byte < 0xe0) return {2, 0x80, 0xbf};
  if (byte < 0xf0) return {3, byte == 0xe0 ? 0xa0u : 0x80u, byte == 0xed ? 0x9fu : 0xbfu};
  return {4, byte == 0xf0 ? 0x90u : 0x80u, byte == 0xf4 ? 0x8fu : 0xbfu};
}

}  // namespace

std::string Utf8Stream::add(std::string_view bytes) {
  const std::string all = std::exchange(held_, {}).append(bytes);
  std::string shown;
  for (std::size_t at = 0, seen = 0; at < all.size(); at += seen) {
    const auto byte = [&](std::size_t k) { return static_cast<unsigned>(static_cast<unsigned char>(all[at + k])); };
    const Lead lead = lead_of(byte(0));
    for (seen = 1; seen < lead.length && at + seen < all.size(); ++seen) {
      const unsigned next = byte(seen);
      if (next < (seen == 1 ? lead.least : 0x80) || next > (seen == 1 ? lead.most : 0xbf)) break;
    }
    if (seen == lead.length)
      shown.append(all, at, seen);
    else if (lead.length > 0 && at + seen == all.size())
      held_ = all.substr(at);
    else
      shown += replacement;
  }
  return shown;
}

std::string Utf8Stream::finish() { return std::exchange(held_, {}).empty() ? "" : replacement; }

std::string valid_utf8(std::string_view bytes) {
  Utf8Stream stream;
  std::string text = stream.add(bytes);
  return text += stream.finish();
}

}  // namespace mote
