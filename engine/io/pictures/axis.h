// ChartAxis, where a value lies between the ends of what is shown, linear or logarithmic.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/base/math.h"
#include "engine/io/pictures/ticks.h"

namespace mote::detail {

/// From a value to its place: 0 at the low end, 1 at the high one; NaN for what is left out.
struct ChartAxis {
  bool log = false;
  double low = std::numeric_limits<double>::infinity(), high = -low;
  bool shows(double value) const { return std::isfinite(value) && (!log || value > 0); }
  void include(double value) {
    if (shows(value)) low = std::min(low, value), high = std::max(high, value);
  }
  bool empty() const { return !(low <= high); }
  double place(double value) const {
    if (empty() || !shows(value)) return std::numeric_limits<double>::quiet_NaN();
    if (!(low < high)) return 0.5;
    if (log) return (math::log(value) - math::log(low)) / (math::log(high) - math::log(low));
    const double part = std::isfinite(high - low) ? 1 : 0.5;  // of each, so that no difference is infinite
    return (part * value - part * low) / (part * high - part * low);
  }
  std::vector<double> ticks() const { return log ? log_ticks(low, high) : linear_ticks(low, high); }
};

}  // namespace mote::detail
