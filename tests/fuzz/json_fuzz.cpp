// Whatever parse_json accepts must come back from its own text, compact and indented; nothing may crash it.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "engine/base/check.h"
#include "engine/io/text/json.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace mote;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  Json value;
  try {
    value = parse_json(text);
  } catch (const Error&) {
    return 0;
  }
  // A text this function wrote itself must be readable: an Error from here on is a finding.
  const std::string compact = text_of(value), indented = text_of(value, 2);
  if (!(parse_json(compact) == value) || !(parse_json(indented) == value)) std::abort();
  if (text_of(parse_json(compact)) != compact) std::abort();
  return 0;
}
