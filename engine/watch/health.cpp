// The statistics of a Health.
#include "engine/watch/health.h"

#include <cmath>

namespace mote {

void Spread::add(const Array& x) {
  if (!x.defined() || x.numel() == 0) return;
  if (count == 0) mean = deviation = zeros = 0;
  // `squares` is the sum of the squared distances from the mean (Welford 1962). `none` is the number of zeros.
  double squares = count * deviation * deviation, none = count * zeros;
  for (const real v : x.to_vector()) {
    const double number = static_cast<double>(v), off = number - mean;
    mean += off / ++count;
    squares += off * (number - mean);
    none += v == 0 ? 1 : 0;
  }
  deviation = std::sqrt(squares / count);
  zeros = none / count;
}

void Health::event(const Event& e) {
  if (e.kind == Event::value_shown && e.name.empty()) add_result(*e.value);
  if (e.kind != Event::rule_opened) return;
  const auto [begin, end] = of_node_.equal_range(e.node->id);
  for (auto at = begin; at != end; ++at) layers_[at->second].gradient.add(*e.dy);
}

void Health::add_result(const Tensor& y) {
  const LayerScope& scope = *thread_context.layer;
  const auto [at, is_new] = places_.try_emplace(scope.layer, layers_.size());
  if (is_new) layers_.push_back({scope.path(scope)});
  layers_[at->second].result.add(y.array());
  if (y.node()) of_node_.emplace(y.node()->id, at->second);
}

double update_ratio(const Array& before, const Array& after) {
  Spread weights, change;
  weights.add(before);
  change.add(after - before);
  return change.deviation / weights.deviation;
}

}  // namespace mote
