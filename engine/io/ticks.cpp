// Where the ticks of an axis lie.
#include "engine/io/ticks.h"

#include <algorithm>
#include <cmath>

#include "engine/base/math.h"

namespace mote::detail {
namespace {

constexpr double smallest = 1e-290;  // powers of ten below could become 0

}  // namespace

std::vector<double> linear_ticks(double low, double high) {
  if (!std::isfinite(low) || !std::isfinite(high) || !(low <= high)) return {};
  const double range = high - low;
  if (!(range > smallest) || !std::isfinite(range)) return {low};
  double step = math::pow(10.0, std::floor(math::log(range) / math::log(10.0)));
  while (range / step >= 10) step *= 10;  // where the logarithm was rounded down
  if (range / step < 2)
    step /= 5;
  else if (range / step < 4)
    step /= 2;
  std::vector<double> ticks;
  for (double k = std::ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && ticks.size() < 20; ++k)
    ticks.push_back(k * step + 0.0);  // not -0
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  if (!(low > 0) || !std::isfinite(high) || !(low <= high)) return {};
  const double decades = math::log(high / low) / math::log(10.0);
  std::vector<double> ticks;
  const double first = math::pow(10.0, std::floor(math::log(std::max(low, smallest)) / math::log(10.0)) - 1);
  const double stride = decades > 10 ? math::pow(10.0, std::ceil(decades / 8)) : 10;
  for (double power = first; power <= high; power *= stride)
    for (const double factor : {1.0, 2.0, 5.0})
      if ((factor == 1 || decades < 3) && power * factor >= low * 0.999 && power * factor <= high * 1.001)
        ticks.push_back(power * factor);
  return ticks.size() < 2 && decades < 1 ? linear_ticks(low, high) : ticks;
}

}  // namespace mote::detail
