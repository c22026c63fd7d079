// A sequence of numbers, such as the losses of a training, as a curve in characters.
#pragma once

#include <span>
#include <string>

namespace mote {

struct CurveOptions {
  std::string title = {};
  bool log = false;  ///< a logarithmic scale, on which values that are not above 0 are left out
  int width = 72;    ///< columns of curve_text, at most; each shows the mean of its share of the values
  int height = 12;   ///< rows of curve_text, the highest value at the top
};

/// '*' for each column, the largest and the smallest mean beside the first and the last row, the numbers of the first
/// and the last value (1 and n) below. Values that are not finite are left out. Errors: a width below 1, a height below
/// 2.
std::string curve_text(std::span<const double> values, const CurveOptions& options = {});

}  // namespace mote
