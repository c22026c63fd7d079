// Builds the text of an error, independent of the locale.
#include "engine/base/check.h"

#include "engine/base/number_text.h"

namespace mote {

std::string text_of(double x) { return general_text(x, 6); }

std::string text_of(std::span<const Index> items) {
  std::string text = "[";
  for (std::size_t i = 0; i < items.size(); ++i) text += (i ? ", " : "") + std::to_string(items[i]);
  return text + "]";
}

/// Replaces each control character by its Unicode picture, such as U+2400 for 0 and U+2421 for 0x7f. A newline stays
/// if an indented line follows.
static std::string visible(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool indented_line = byte == '\n' && text.substr(i + 1).starts_with("  ");
    if ((byte >= 0x20 && byte != 0x7f) || indented_line)
      out += text[i];
    else
      out.append("\xe2\x90") += static_cast<char>(byte == 0x7f ? 0xa1 : 0x80 + byte);
  }
  return out;
}

Error::Error(std::string_view sentence) : std::runtime_error(visible(sentence)) {}

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
