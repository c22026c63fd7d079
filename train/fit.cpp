// What fit() does that need not be compiled with its caller.
#include "train/fit.h"

namespace mote {

bool detail::mean_of_nothing(const Tensor& loss, const Optimizer& optimizer) {
  if (!std::isnan(loss.item()) || !loss.requires_grad()) return false;
  loss.backward();
  const std::vector<Parameter>& all = optimizer.parameters();
  const bool reached = std::any_of(all.begin(), all.end(), [](const Parameter& p) { return p.grad().defined(); });
  const bool flat = clip_grad_norm(all, std::numeric_limits<double>::infinity()) == 0;
  optimizer.zero_grad();
  return reached && flat;
}

void detail::step_at(Optimizer& optimizer, double learning_rate) {
  const double before = optimizer.learning_rate();
  optimizer.set_learning_rate(learning_rate);
  try {
    optimizer.step();
  } catch (...) {
    optimizer.set_learning_rate(before);
    throw;
  }
}

}  // namespace mote
