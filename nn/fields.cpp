// Converts fields of configs from and to text, independent of the locale.
#include "nn/fields.h"

#include <charconv>

#include "engine/base/number_text.h"

namespace mote::detail {

std::string field_text(bool value) { return value ? "true" : "false"; }
std::string field_text(Index value) { return std::to_string(value); }
std::string field_text(double value) { return exact_text(value); }

void read_field(const char* name, const std::string& text, bool& value) {
  check_in(name, text == "true" || text == "false" || text == "1" || text == "0", "'", text, "' is not true or false");
  value = text == "true" || text == "1";
}

void read_field(const char* name, const std::string& text, Index& value) {
  Index parsed = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), parsed);
  check_in(name, status != std::errc::invalid_argument && end == text.data() + text.size(), "'", text,
           "' is not a whole number");
  check_in(name, status == std::errc(), text,
           text[0] == '-' ? " is below -2^63, the least" : " is above 2^63 - 1, the largest",
           " whole number that is possible");
  value = parsed;
}

void read_field(const char* name, const std::string& text, double& value) {
  const std::optional<double> parsed = number_from_text(text);
  check_in(name, parsed.has_value(), "'", text, "' is not a number");
  value = *parsed;
}

}  // namespace mote::detail
