// What fit() does that need not be compiled with its caller.
#include "train/fit.h"

namespace mote {

std::string detail::gradient_warning(const Optimizer& optimizer) {
  constexpr std::size_t shown = 8;
  std::string names;
  std::size_t count = 0;
  for (const ParameterGroup& group : optimizer.groups())
    for (const NamedParameter& p : group.parameters) {
      if (!p.parameter.trainable() || p.parameter.grad().defined()) continue;
      if (count++ < shown) names += (names.empty() ? "" : ", ") + p.name;
    }
  if (count == 0) return "";
  if (count > shown) names += " and " + std::to_string(count - shown) + " more";
  return "no gradient reached " + names + ": the loss does not depend on " + (count == 1 ? "it" : "them") +
         " (a layer that forward does not call, or a detached result?)";
}

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
