// A locale that writes 1.234,5, for a scope: no text or file of the library may depend on it.
#pragma once

#include <clocale>
#include <locale>
#include <string>

namespace mote::test {

/// The locale of streams always; that of printf and strtod if this machine has a German one.
class CommaLocale {
 public:
  CommaLocale() {
    for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "de_DE"})
      if (std::setlocale(LC_NUMERIC, name)) break;
  }
  ~CommaLocale() {
    std::locale::global(streams_);
    std::setlocale(LC_NUMERIC, printf_.c_str());
  }
  CommaLocale(const CommaLocale&) = delete;

 private:
  struct Comma : std::numpunct<char> {
    char do_decimal_point() const override { return ','; }
    char do_thousands_sep() const override { return '.'; }
    std::string do_grouping() const override { return "\3"; }
  };
  const std::string printf_ = std::setlocale(LC_NUMERIC, nullptr);
  const std::locale streams_ = std::locale::global(std::locale(std::locale::classic(), new Comma));
};

}  // namespace mote::test
