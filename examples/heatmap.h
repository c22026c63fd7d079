// What is here: attention weights as a picture of characters.
// What is not: colours or files.
// Read next: train.cpp.
#pragma once

#include <algorithm>
#include <ostream>
#include <string>
#include <vector>

#include "engine/array.h"

/// One line per query, one column per key: '.' for a weight near 0 up to '@' for one near 1, blank for a key that the
/// causal mask hides, so that the triangle shows whatever the weights are. weights [T, T]; `labels` names the positions.
inline void print_heatmap(std::ostream& out, const mote::Array& weights, const std::vector<std::string>& labels) {
  static const std::string glyphs = ".:-=+*#%@";
  const auto columns = [](const std::string& label) {  // UTF-8: bytes that continue a character take no column
    return static_cast<std::size_t>(std::count_if(
        label.begin(), label.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xc0) != 0x80; }));
  };
  std::size_t width = 1;
  for (const std::string& label : labels) width = std::max(width, columns(label));
  const mote::Index T = weights.shape()[0];
  for (mote::Index i = 0; i < T; ++i) {
    const std::string& label = labels[static_cast<std::size_t>(i)];
    out << "  " << std::string(width - columns(label), ' ') << label << " |";
    for (mote::Index j = 0; j < T; ++j) {
      const double w = std::clamp(static_cast<double>(weights.at({i, j})), 0.0, 1.0);
      out << ' ' << (j > i ? ' ' : glyphs[std::min<std::size_t>(8, static_cast<std::size_t>(w * 9))]);
    }
    out << " |\n";
  }
}
