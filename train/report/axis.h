// ChartAxis, which maps a value to its place on a linear or logarithmic axis; round numbers along an axis; and the
// means that a chart shows if there are too many points.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace mote::detail {

/// The ticks of a linear axis from `low` to `high`: multiples of 1, 2 or 5 times a power of ten, four to ten of them,
/// in rising order. If the ends are so close that such multiples would be rounded, the ticks are the two ends. If the
/// ends are equal, there is one tick. If the ends are not finite or in the wrong order, there is none.
std::vector<double> linear_ticks(double low, double high);

/// The ticks of a logarithmic axis from `low`, which is above 0: powers of ten, but only some of the powers if there
/// are more than ten. An axis of less than three powers of ten also has ticks at 2 and 5 times each power. If fewer
/// than two such ticks fit, the ticks are those of linear_ticks().
std::vector<double> log_ticks(double low, double high);

/// Turns numbers in rising order into texts of `digits` significant digits. A number gets more digits if it would look
/// the same as its neighbour.
std::vector<std::string> tick_labels(const std::vector<double>& ticks, int digits);

/// The axis of a chart, which maps a value to its place: 0 at the low end, 1 at the high end, NaN for a value that the
/// axis cannot show.
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
/// Returns the points as they are if there are at most `most`. Otherwise divides them into `most` equal groups of
/// consecutive points, and returns the mean x and the mean y of each group. The mean y is over the finite y of the
/// group.
std::vector<Point> means_of_shares(const std::vector<Point>& points, std::size_t most);

}  // namespace mote::detail
