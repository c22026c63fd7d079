// The sums behind a Health.
#include "engine/watch/health.h"

#include <cmath>

namespace mote {

void Spread::add(const Array& x) {
  if (!x.defined() || x.numel() == 0) return;
  const std::vector<real> all = x.to_vector();
  const double n = static_cast<double>(all.size()), before = count;
  double sum = 0, off = 0, none = 0;  // of x alone; off: squares of distances from its mean
  for (const real v : all) sum += static_cast<double>(v), none += v == 0 ? 1 : 0;
  for (const real v : all) off += std::pow(static_cast<double>(v) - sum / n, 2);
  if (before == 0) mean = deviation = zeros = 0;
  const double apart = sum / n - mean;
  count += n;
  deviation = std::sqrt((before * deviation * deviation + off + apart * apart * before * n / count) / count);
  mean += apart * n / count;
  zeros += (none - zeros * n) / count;
}

void Health::value_shown(const char*, const Tensor& y) {
  const LayerScope& scope = *thread_context.layer;
  const auto [at, is_new] = places_.try_emplace(scope.layer, layers_.size());
  if (is_new) layers_.push_back({scope.path(scope)});
  layers_[at->second].result.add(y.array());
  if (y.node()) of_node_.emplace(y.node()->id, at->second);
}

void Health::rule_opened(const Node& node, const Array& dy) {
  const auto [begin, end] = of_node_.equal_range(node.id);
  for (auto at = begin; at != end; ++at) layers_[at->second].gradient.add(dy);
}

double update_ratio(const Array& before, const Array& after) {
  Spread weights, change;
  weights.add(before), change.add(after - before);
  return change.deviation / weights.deviation;
}

}  // namespace mote
