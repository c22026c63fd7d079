// The warning of fit about parameters without a gradient.
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

}  // namespace mote
