// Round numbers for the axes of charts.
#pragma once

#include <string>
#include <vector>

namespace mote::detail {

/// Multiples of 1, 2 or 5 times a power of ten from `low` to `high`, in rising order, four to ten of them; the ends
/// alone where these have hardly a double between them, one if they are equal; none if they are not finite or in the
/// other order.
std::vector<double> linear_ticks(double low, double high);

/// For a logarithmic axis from `low`, which is above 0: powers of ten, of very many only some; where they are fewer
/// than three also their doubles and fives; where these are fewer than two, linear ones.
std::vector<double> log_ticks(double low, double high);

/// Numbers in rising order as text of `digits` significant digits, of more where neighbours would look the same.
std::vector<std::string> tick_labels(const std::vector<double>& ticks, int digits);

}  // namespace mote::detail
