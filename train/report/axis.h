// ChartAxis, where a value lies between the ends of what is shown, linear or logarithmic; round numbers along it; and
// the means that are shown of too many points.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace mote::detail {

/// Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, in rising order, four to ten of them. Where the
/// ends have hardly a double between them, they stand alone. If they are equal, there is one. If they are not finite or
/// in the other order, there is none.
std::vector<double> linear_ticks(double low, double high);

/// For a logarithmic axis from `low`, which is above 0: powers of ten, of very many only some. Where they are fewer
/// than three, their doubles and fives stand there, too. Where these are fewer than two, ticks are linear.
std::vector<double> log_ticks(double low, double high);

/// Numbers in rising order as text of `digits` significant digits, of more where neighbours would look the same.
std::vector<std::string> tick_labels(const std::vector<double>& ticks, int digits);

/// From a value to its place: 0 at the low end, 1 at the high one; NaN for what is left out.
struct ChartAxis {
  bool log = false;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool shows(double value) const { return std::isfinite(value) && (!log || value > 0); }
  void include(double value) {
    if (shows(value)) {
      low = std::min(low, value);
      high = std::max(high, value);
    }
  }
  bool empty() const { return !(low <= high); }
  double place(double value) const;
  std::vector<double> ticks() const { return log ? log_ticks(low, high) : linear_ticks(low, high); }
};

/// x and y.
using Point = std::pair<double, double>;
/// The points, or of more than `most` the means of that many equal shares: of all x, and of the y that are finite.
std::vector<Point> means_of_shares(const std::vector<Point>& points, std::size_t most);

}  // namespace mote::detail
