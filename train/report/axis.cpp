// The places of values and ticks on an axis.
#include "train/report/axis.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/math.h"
#include "engine/base/number_text.h"

namespace mote::detail {
namespace {

constexpr double smallest = 1e-290;  // smaller powers of ten could become 0

double log10_of(double x) { return math::log(x) / math::log(10.0); }
/// The decimal place of the first digit of |x|: 2 for 345. x must not be 0.
int first_place(double x) { return static_cast<int>(std::floor(log10_of(std::abs(x)))); }

}  // namespace

std::vector<double> linear_ticks(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low <= high)) return {};
  const double range = high - low;
  if (!(range > smallest) || !std::isfinite(range)) return {low};
  double step = math::pow(10.0, std::floor(log10_of(range)));
  while (range / step >= 10) step *= 10;  // if the logarithm was rounded down
  if (range / step < 2)
    step /= 5;
  else if (range / step < 4)
    step /= 2;
  if (std::max(std::abs(low), std::abs(high)) / step > 1e15) return {low, high};  // multiples of step would be rounded
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && ticks.size() < 20; ++k)
    ticks.push_back(k * step + 0.0);  // not -0
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  if (!(low > 0) || !std::isfinite(high) || !(low <= high)) return {};
  const double decades = log10_of(high / low);
  std::vector<double> ticks;
  const double first = math::pow(10.0, std::floor(log10_of(std::max(low, smallest))) - 1);
  const double stride = decades > 10 ? math::pow(10.0, std::ceil(decades / 8)) : 10;
  for (double power = first; power <= high; power *= stride)
    for (const double factor : {1.0, 2.0, 5.0})
      if ((factor == 1 || decades < 3) && power * factor >= low * 0.999 && power * factor <= high * 1.001)
        ticks.push_back(power * factor);
  return ticks.size() < 2 && decades < 1 ? linear_ticks(low, high) : ticks;
}

std::vector<std::string> tick_labels(const std::vector<double>& ticks, int digits) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < ticks.size(); ++i) {
    double gap = std::numeric_limits<double>::infinity();
    if (i > 0) gap = std::min(gap, ticks[i] - ticks[i - 1]);
    if (i + 1 < ticks.size()) gap = std::min(gap, ticks[i + 1] - ticks[i]);
    const bool has_places = ticks[i] != 0 && std::isfinite(gap) && gap > 0;
    const int needed = has_places ? first_place(ticks[i]) - first_place(gap) + 1 : 1;
    labels.push_back(general_text(ticks[i], std::clamp(needed, digits, 17)));
  }
  return labels;
}

double ChartAxis::place(double value) const {
  if (empty() || !shows(value)) return std::numeric_limits<double>::quiet_NaN();
  if (!(low < high)) return 0.5;
  if (log) return (math::log(value) - math::log(low)) / (math::log(high) - math::log(low));
  const double part = std::isfinite(high - low) ? 1 : 0.5;  // halves values whose difference would overflow
  return (part * value - part * low) / (part * high - part * low);
}

std::vector<Point> means_of_shares(const std::vector<Point>& points, std::size_t most) {
  const std::size_t n = points.size();
  if (n <= most) return points;
  std::vector<Point> shares;
  for (std::size_t i = 0, begin = 0; i < most; ++i) {
    const std::size_t stop = (i + 1) * n / most;
    double x = 0, y = 0, used = 0;
    for (std::size_t k = begin; k < stop; ++k) {
      x += points[k].first / static_cast<double>(stop - begin);
      if (std::isfinite(points[k].second)) {
        y += points[k].second;
        used += 1;
      }
    }
    shares.emplace_back(x, used > 0 ? y / used : std::numeric_limits<double>::quiet_NaN());
    begin = stop;
  }
  return shares;
}

}  // namespace mote::detail
