// The picture on README.md: the figures that nanoGPT's README prints, each beside the same figure of mote.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "engine/base/check.h"
#include "examples/lectures/lecture.h"

namespace mote {

/// The lines of a run as a table in SVG, in three groups of columns: the evaluations, then the losses in two halves.
/// Errors: a line that nanoGPT's trainer does not print.
inline std::string nanogpt_picture(const std::vector<LinePair>& lines) {
  constexpr int row_height = 20, top = 48, digits = 60;  // pixels
  std::string svg;
  const auto text = [&](const char* kind, int x, int y, const std::string& words) {
    svg += "<text class=\"" + std::string(kind) + "\" x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) +
           "\">" + words + "</text>\n";
  };

  // The right ends of the first column of each group.
  constexpr int evaluations = 48, first_losses = 412, last_losses = 632;
  text("head", evaluations, top - 22, "step");
  text("head", evaluations + 2 * digits + 12, top - 22, "nanoGPT");
  text("head", evaluations + 4 * digits + 24, top - 22, "mote");
  text("head", evaluations + digits + 12, top - 4, "train");
  text("head", evaluations + 2 * digits + 12, top - 4, "val");
  text("head", evaluations + 3 * digits + 24, top - 4, "train");
  text("head", evaluations + 4 * digits + 24, top - 4, "val");
  for (const int x : {first_losses, last_losses}) {
    text("head", x, top - 22, "iter");
    text("head", x + digits + 12, top - 22, "nanoGPT");
    text("head", x + 2 * digits + 24, top - 22, "mote");
    text("head", x + digits + 12, top - 4, "loss");
    text("head", x + 2 * digits + 24, top - 4, "loss");
  }

  int evaluation = 0, loss = 0;
  for (const LinePair& line : lines) {
    const char* const form = line.published.starts_with("step ") ? "step %d: train loss %15[0-9.], val loss %15[0-9.]"
                                                                 : "iter %d: loss %15[0-9.]";
    const auto read = [&](const std::string& printed, int& step) {
      char train[16] = "", val[16] = "";
      const int found = std::sscanf(printed.c_str(), form, &step, train, val);
      check(found == 3 || (found == 2 && form[0] == 'i'), "nanoGPT's trainer does not print this line: ", printed);
      return found == 3 ? std::vector<std::string>{train, val} : std::vector<std::string>{train};
    };
    int step = 0;
    const std::vector<std::string> theirs = read(line.published, step), ours = read(line.computed, step);

    const bool first_half = loss < 11;
    const int x = theirs.size() == 2 ? evaluations : first_half ? first_losses : last_losses;
    const int row = theirs.size() == 2 ? evaluation++ : first_half ? loss++ : loss++ - 11;
    const int y = top + 16 + row * row_height;
    text("head", x, y, std::to_string(step));
    int at = x + 12;
    for (const std::string& figure : theirs) text("theirs", at += digits, y, figure);
    at += 12;
    for (const std::string& figure : ours) text("ours", at += digits, y, figure);
  }

  return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 800 284\" role=\"img\">\n"
         "<style>\nsvg{background:#fff;max-width:960px}\n"
         "text{font:13px ui-monospace,monospace;text-anchor:end;fill:#1c2733}\n"
         ".head{fill:#5b6875}.ours{fill:#2458c5;font-weight:600}\n"
         "@media(prefers-color-scheme:dark){svg{background:#14191f}text{fill:#e4e9ef}.head{fill:#a3afbc}"
         ".ours{fill:#7faaff}}\n</style>\n" +
         svg + "</svg>\n";
}

}  // namespace mote
