// What is here: attention weights as a picture of characters.
// What is not: colours or files.
// Read next: train.cpp.
#pragma once

#include <algorithm>
#include <iomanip>
#include <ostream>
#include <string>
#include <vector>

#include "engine/array.h"

/// One line per query and one character per key: blank for a weight near 0, '@' for a weight near 1. `labels` names the
/// positions; weights [T, T].
inline void print_heatmap(std::ostream& out, const mote::Array& weights, const std::vector<std::string>& labels) {
  static const std::string glyphs = " .:-=+*#%@";
  std::size_t width = 1;
  for (const std::string& label : labels) width = std::max(width, label.size());
  const mote::Index T = weights.shape()[0];
  for (mote::Index i = 0; i < T; ++i) {
    out << "  " << std::setw(static_cast<int>(width)) << labels[static_cast<std::size_t>(i)] << " |";
    for (mote::Index j = 0; j < T; ++j) {
      const double w = std::clamp(static_cast<double>(weights.at({i, j})), 0.0, 1.0);
      const char glyph = glyphs[std::min<std::size_t>(9, static_cast<std::size_t>(w * 10))];
      out << glyph << (width > 1 ? std::string(width - 1, j > i ? ' ' : glyph) : "");
    }
    out << "|\n";
  }
}
