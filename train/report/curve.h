// curve_text, which draws a sequence of numbers, such as the losses of a training, as a curve of characters.
#pragma once

#include <span>
#include <string>

namespace mote {

/// The size of a curve, and the range that it shows.
struct CurveOptions {
  std::string title = {};
  bool log = false;  ///< a logarithmic scale, on which values that are not above 0 are left out
  int width = 72;    ///< largest number of columns; each shows the mean of an equal share of the values
  int height = 12;   ///< rows of the curve, the highest value at the top
};

/// The values as a curve of characters. Each column has one '*', at the mean of the column's values. The largest mean
/// is printed beside the first row, and the smallest mean beside the last row. Below the curve are the positions of the
/// first and the last value, 1 and n. Values that are not finite are left out. Errors: a width below 1, a height below
/// 2.
std::string curve_text(std::span<const double> values, const CurveOptions& options = {});

}  // namespace mote
