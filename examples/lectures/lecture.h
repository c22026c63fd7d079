// What the lectures share: Lines, which prints each computed line beside the published one; the data that a reader has.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "engine/base/number_text.h"
#include "engine/io/files/file.h"
#include "examples/figures/record.h"  // read_words
#include "examples/programs/program.h"

namespace mote {

/// The published lines of a program, from published.txt: those below its heading, "# name: ...", in order.
class Lines {
 public:
  explicit Lines(const std::string& name) {
    std::istringstream file(read_file(MOTE_LECTURES "/published.txt", 1 << 20));
    bool inside = false;
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with("# ")) inside = line.starts_with("# " + name + ":");
      if (inside && !line.empty() && !line.starts_with("#")) published_.push_back(line);
    }
    check(!published_.empty(), "published.txt has no lines of ", name);
    std::printf("%-45s %-45s\n", "computed", "published");
  }

  /// Prints what a program has computed beside the next published line, and whether they are equal.
  void operator()(const std::string& computed) {
    check(at_ < published_.size(), "nothing more was published; computed is: ", computed);
    const std::string& published = published_[at_++];
    const std::string verdict = compared(computed, published);
    ++counts_[verdict];
    std::printf("%-45s %-45s %s\n", computed.c_str(), published.c_str(), verdict.c_str());
    std::fflush(stdout);
  }

  /// The same for each line of a text, but for those that are empty.
  void text(const std::string& computed) {
    std::istringstream lines(computed);
    for (std::string line; std::getline(lines, line);)
      if (!line.empty()) (*this)(line);
  }

  /// Prints how many lines are equal. Returns the exit code: 0 unless one differs, or was not computed although all
  /// were to be.
  int summary(bool all = true) const {
    const std::size_t left = published_.size() - at_;
    std::printf("\n%zu lines: %d equal, %d to rounding, %d differ; %zu not computed\n", published_.size(), of("equal"),
                of("to rounding"), of("differs"), left);
    return of("differs") == 0 && (left == 0 || !all) ? 0 : 1;
  }

 private:
  /// "equal": every character is. "to rounding": words are equal, and each number is within one unit of its last
  /// published digit. Where more digits were published than a float has, four units in a float's last place count.
  /// "differs": anything else.
  static std::string compared(const std::string& computed, const std::string& published) {
    if (computed == published) return "equal";
    std::istringstream a(computed), b(published);
    std::string x, y;
    while (a >> x && b >> y) {
      if (x == y) continue;
      char *end_x = nullptr, *end_y = nullptr;
      const double number_x = std::strtod(x.c_str(), &end_x), number_y = std::strtod(y.c_str(), &end_y);
      const bool numbers = end_x != x.c_str() && end_y != y.c_str() && std::string(end_x) == end_y;
      const std::size_t point = y.find('.');
      const auto digits =
          point == y.npos ? 0 : static_cast<int>(static_cast<std::size_t>(end_y - y.c_str()) - point - 1);
      const double last_place = number_y == 0 ? 0 : std::exp2(std::floor(std::log2(std::abs(number_y))) - 23);
      const double most = 1.01 * std::max(std::pow(10.0, -digits), 4 * last_place);
      if (!numbers || std::abs(number_x - number_y) > most) return "differs";
    }
    return (a >> x) || (b >> y) ? "differs" : "to rounding";
  }
  int of(const std::string& verdict) const {
    const auto found = counts_.find(verdict);
    return found == counts_.end() ? 0 : found->second;
  }

  std::vector<std::string> published_;
  std::size_t at_ = 0;
  std::map<std::string, int> counts_;
};

/// A number as Python's repr: as few digits as tell it from every other double.
inline std::string repr(double x) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, x).ptr);
}

/// A file that the lecture reads, whole. Errors: it has another size than the lecture's.
inline std::string lecture_file(const std::string& path, std::size_t size) {
  std::string text = read_file(path, 1 << 30);
  check(text.size() == size, path, " has ", text.size(), " bytes; the lecture's has ", size);
  return text;
}

}  // namespace mote
