// Formats and parses numbers with streams in the classic locale, because not every standard library has std::to_chars
// for double.
#include "engine/base/number_text.h"

#include <cmath>
#include <sstream>

namespace mote {
namespace {

std::string written(double x, int digits, std::ios_base::fmtflags form) {
  if (std::isnan(x)) return "nan";  // regardless of its sign
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.setf(form, std::ios_base::floatfield);
  out.precision(digits);
  out << x;
  return out.str();
}

}  // namespace

std::string fixed_text(double x, int digits) { return written(x, digits, std::ios_base::fixed); }
std::string scientific_text(double x, int digits) { return written(x, digits, std::ios_base::scientific); }
std::string general_text(double x, int digits) { return written(x, digits, {}); }

std::string exact_text(double x) {
  for (int digits = 6; digits < 17; ++digits) {
    const std::string text = general_text(x, digits);
    if (number_from_text(text) == x) return text;
  }
  return general_text(x, 17);
}

std::optional<double> number_from_text(std::string_view text) {
  std::istringstream in{std::string(text)};
  in.imbue(std::locale::classic());
  double x = 0;
  in >> std::noskipws >> x;
  const bool subnormal = x != 0 && std::abs(x) < 1;  // libc++ reports a subnormal number as a failure, but still sets x
  if (in.fail() && !subnormal) return std::nullopt;
  in.clear();
  if (in.peek() != std::istringstream::traits_type::eof()) return std::nullopt;
  return x;
}

}  // namespace mote
