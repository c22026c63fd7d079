// The functions that the lectures share. Lines prints each computed line beside the published one. Others print values
// as Python does, or read the data of a lecture.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdarg>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "engine/autograd/print.h"
#include "engine/base/number_text.h"
#include "engine/io/files/file.h"
#include "examples/programs/program.h"
#include "examples/programs/words.h"

namespace mote {

namespace detail {
/// The number that a text begins with.
struct PrintedNumber {
  std::size_t length = 0;  ///< number of characters; 0 if the text does not begin with a number
  double value = 0;
  double allowed = 0;  ///< largest difference from another number that still counts as equal to rounding
};

/// Reads the number that a text begins with. A whole number allows no difference, because it has no digits to round.
/// "2." is read as 2.0000, because PyTorch prints 2.0000 as "2.".
inline PrintedNumber number_at(std::string_view text) {
  const auto digits_from = [&](std::size_t at) {
    while (at < text.size() && text[at] >= '0' && text[at] <= '9') ++at;
    return at;
  };
  const std::size_t sign = !text.empty() && (text[0] == '-' || text[0] == '+') ? 1 : 0;
  std::size_t end = digits_from(sign);
  if (end == sign) return {};

  bool whole = true;
  int decimals = 0, exponent = 0;
  if (end < text.size() && text[end] == '.') {
    whole = false;
    const std::size_t after = digits_from(end + 1);
    decimals = after == end + 1 ? 4 : static_cast<int>(after - end - 1);
    end = after;
  }
  if (end + 2 < text.size() && text[end] == 'e' && (text[end + 1] == '-' || text[end + 1] == '+')) {
    const std::size_t after = digits_from(end + 2);
    if (after > end + 2) {
      exponent = std::atoi(std::string(text.substr(end + 1, after - end - 1)).c_str());
      whole = false;
      end = after;
    }
  }

  PrintedNumber number;
  number.length = end;
  number.value = std::strtod(std::string(text.substr(0, end)).c_str(), nullptr);
  if (!whole) {
    const double last_digit = std::pow(10.0, exponent - decimals);
    const double last_place = number.value == 0 ? 0 : std::exp2(std::floor(std::log2(std::abs(number.value))) - 23);
    number.allowed = 1.01 * std::max(last_digit, 4 * last_place);
  }
  return number;
}
}  // namespace detail

/// Compares a computed line with the published one and returns a verdict. "equal" means that every character is equal.
/// "to rounding" means that the text between the numbers is equal except for spaces, and that each number is within
/// one unit of its last published digit. If more digits were published than a float has, each number must be within
/// four units in a float's last place. "differs" means anything else.
inline std::string compare_lines(std::string_view computed, std::string_view published) {
  if (computed == published) return "equal";
  const auto skip_spaces = [](std::string_view& text) {
    while (!text.empty() && text[0] == ' ') text.remove_prefix(1);
  };
  for (;;) {
    skip_spaces(computed);
    skip_spaces(published);
    if (computed.empty() || published.empty()) break;
    const detail::PrintedNumber x = detail::number_at(computed), y = detail::number_at(published);
    if (x.length != 0 && y.length != 0) {
      if (!(std::abs(x.value - y.value) <= y.allowed)) return "differs";
      computed.remove_prefix(x.length);
      published.remove_prefix(y.length);
    } else {
      if (computed[0] != published[0]) return "differs";
      computed.remove_prefix(1);
      published.remove_prefix(1);
    }
  }
  return computed.empty() && published.empty() ? "to rounding" : "differs";
}

/// A computed line and the published one.
struct LinePair {
  std::string computed, published;
};

/// The published lines of a program, in order. They stand in published.txt below the heading "# name: ...".
class Lines {
 public:
  explicit Lines(const std::string& name) {
    std::istringstream file(read_file(MOTE_LECTURES "/published.txt", 1 << 20));
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("# ")) inside = line.starts_with("# " + name + ":");
      if (inside && !line.empty() && !line.starts_with("# ")) published_.push_back(line);
    }
    check(!published_.empty(), "published.txt has no lines of ", name);
    std::printf("%-45s %-45s\n", "computed", "published");
  }

  /// Prints a computed line beside the next published line, with the verdict of compare_lines(). Lines that are longer
  /// than a column are printed below each other.
  void operator()(const std::string& computed) {
    check(computed_.size() < published_.size(), "nothing more was published; computed is: ", computed);
    const std::string& published = published_[computed_.size()];
    computed_.push_back(computed);
    const std::string verdict = compare_lines(computed, published);
    ++counts_[verdict];
    constexpr std::size_t column = 45;
    const bool short_lines = computed.size() <= column && published.size() <= column;
    if (short_lines)
      std::printf("%-45s %-45s %s\n", computed.c_str(), published.c_str(), verdict.c_str());
    else if (verdict == "equal")
      std::printf("%s\n%91s %s\n", computed.c_str(), "", verdict.c_str());
    else
      std::printf("%s\n%s\n%91s %s\n", computed.c_str(), published.c_str(), "", verdict.c_str());
    std::fflush(stdout);
  }

  /// Prints each line of a computed text beside the next published line. Empty lines are left out.
  void text(const std::string& computed) {
    std::istringstream lines(computed);
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) (*this)(line);
  }

  /// The computed lines, and the published line beside each.
  std::vector<LinePair> pairs() const {
    std::vector<LinePair> all;
    for (std::size_t i = 0; i < computed_.size(); ++i) all.push_back({computed_[i], published_[i]});
    return all;
  }

  /// Prints how many lines are equal, and returns the exit code of the program. The exit code is 0 if exactly
  /// `known_to_differ` lines differ and all published lines were computed. If `all` is false, the program may have
  /// computed only some of the published lines.
  int summary(bool all = true, int known_to_differ = 0) const {
    const std::size_t left = published_.size() - computed_.size();
    std::printf("\n%zu lines: %d equal, %d to rounding, %d differ; %zu not computed\n", published_.size(), of("equal"),
                of("to rounding"), of("differs"), left);
    return of("differs") == known_to_differ && (left == 0 || !all) ? 0 : 1;
  }

 private:
  int of(const std::string& verdict) const {
    const auto found = counts_.find(verdict);
    return found == counts_.end() ? 0 : found->second;
  }

  std::vector<std::string> published_, computed_;
  std::map<std::string, int> counts_;
};

/// A tensor as PyTorch prints it, without its grad_fn.
inline std::string plain(const Tensor& x) { return to_text(x.array()); }

/// x.shape as PyTorch prints it.
inline std::string size_text(const Shape& shape) { return "torch.Size(" + text_of(shape) + ")"; }

/// Formats values as Python's `format % values` does.
[[gnu::format(printf, 1, 2)]] inline std::string formatted(const char* format, ...) {
  char text[512];
  std::va_list values;
  va_start(values, format);
  std::vsnprintf(text, sizeof text, format, values);
  va_end(values);
  return text;
}

/// A number as Python's repr prints it, with the fewest digits that distinguish it from every other double.
inline std::string repr(double x) {
  const double size = std::abs(x);
  const bool fixed = size == 0 || (size >= 1e-4 && size < 1e16);
  char text[64];
  std::string digits(
      text,
      std::to_chars(text, text + sizeof text, x, fixed ? std::chars_format::fixed : std::chars_format::scientific).ptr);
  return fixed && digits.find('.') == digits.npos ? digits + ".0" : digits;
}
inline std::string repr(float x) { return repr(static_cast<double>(x)); }

/// Reads the words of the command line as read_words() does. The first word is the path of the lecture's data. Errors:
/// the first word is missing.
template <class... Values>
void read_data_words(int argc, char** argv, const std::string& usage, std::string& place, Values&... values) {
  read_words(argc, argv, usage, place, values...);
  if (place.empty()) throw UsageError("where are the data? Its words are " + usage);
}

/// The contents of a file that a lecture reads. Errors: the file does not have `size` bytes, as the lecture's file
/// has.
inline std::string lecture_file(const std::string& path, std::size_t size) {
  std::string text = read_file(path, 1 << 30);
  check(text.size() == size, path, " has ", text.size(), " bytes; the lecture's has ", size);
  return text;
}

}  // namespace mote
