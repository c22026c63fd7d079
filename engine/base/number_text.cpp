// Numbers as text, through a stream of the classic locale: not every standard library has std::to_chars for them.
#include "engine/base/number_text.h"

#include <cmath>
#include <sstream>

namespace mote {
namespace {

std::string text_of(double x, int digits, std::ios_base::fmtflags form) {
  if (std::isnan(x)) return "nan";  // regardless of its sign
  std::ostringstream out;
  out.imbue(std::locale::classic());
  out.setf(form, std::ios_base::floatfield);
  out.precision(digits);
  out << x;
  return out.str();
}

}  // namespace

std::string fixed_text(double x, int digits) { return text_of(x, digits, std::ios_base::fixed); }
std::string scientific_text(double x, int digits) { return text_of(x, digits, std::ios_base::scientific); }
std::string general_text(double x, int digits) { return text_of(x, digits, {}); }

std::string exact_text(double x) {
  for (int digits = 6; digits < 17; ++digits) {
    const std::string text = general_text(x, digits);
    std::istringstream in(text);
    in.imbue(std::locale::classic());
    double back = 0;
    if (in >> back && back == x) return text;
  }
  return general_text(x, 17);
}

}  // namespace mote
