// Builds the sentence of an error, independent of the locale.
#include "engine/base/check.h"

#include "engine/base/number_text.h"

namespace mote {

std::string text_of(double x) { return general_text(x, 6); }

std::string text_of(std::span<const Index> items) {
  std::string text = "[";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + std::to_string(items[i]);
  return text + "]";
}

std::string without_controls(std::string_view text, std::string_view kept) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = [&](std::size_t k) { return i + k < text.size() ? static_cast<unsigned char>(text[i + k]) : 0u; };
    const unsigned first = byte(0), second = byte(1), third = byte(2);
    const bool three_bytes = (first == 0xe2 && second == 0x80 && third >= 0xaa && third <= 0xae) ||  // U+202A to U+202E
                             (first == 0xe2 && second == 0x81 && third >= 0xa6 && third <= 0xa9) ||  // U+2066 to U+2069
                             (first == 0xef && second == 0xbf && third >= 0xbe);                     // U+FFFE, U+FFFF
    if (three_bytes || (first == 0xc2 && second >= 0x80 && second < 0xa0)) {
      out += "\xef\xbf\xbd";
      i += three_bytes ? 2 : 1;
    } else if ((first < 0x20 || first == 0x7f) && kept.find(text[i]) == std::string_view::npos) {
      out.append("\xe2\x90") += first == 0x7f ? '\xa1' : static_cast<char>(0x80 + first);
    } else {
      out += text[i];
    }
  }
  return out;
}

namespace {
std::string sentence_of(std::string_view text) {
  std::string sentence;
  for (std::size_t end; (end = text.find("\n  ")) != std::string_view::npos; text.remove_prefix(end + 1))
    sentence += without_controls(text.substr(0, end)) + "\n";
  return sentence + without_controls(text);
}
}  // namespace

Error::Error(std::string_view sentence) : std::runtime_error(sentence_of(sentence)) {}

void detail::fail(const char* fallback, std::initializer_list<std::string> message) {
  const char* const op = thread_context.op ? thread_context.op : fallback;
  std::string text = op ? std::string(op) + ": " : "";
  for (const std::string& part : message) text += part;
  const std::string layer = current_layer();
  if (!layer.empty()) text += " (in " + layer + ")";
  if (thread_context.step >= 0) text += " at step " + std::to_string(thread_context.step);
  throw Error(text);
}

}  // namespace mote
