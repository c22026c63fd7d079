// Builds the sentence of an error, independent of the locale.
#include "engine/base/check.h"

#include "engine/base/number_text.h"

namespace mote {

std::string text_of(double x) { return general_text(x, 6); }
std::string text_of(long long n) { return std::to_string(n); }
std::string text_of(unsigned long long n) { return std::to_string(n); }

void detail::fail(const char* fallback, std::initializer_list<std::string> message) {
  const char* const op = thread_context.op ? thread_context.op : fallback;
  std::string text = op ? std::string(op) + ": " : "";
  for (const std::string& part : message) text += part;
  const std::string layer = current_layer();
  if (!layer.empty()) text += " (in " + layer + ")";
  throw Error(text);
}

}  // namespace mote
