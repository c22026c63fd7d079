// The part of a module's gradcheck that does not depend on the module's type. It adds the parameters to the checked
// tensors, and restarts the random streams before every call.
#include "nn/gradcheck.h"

namespace mote {

GradcheckResult detail::gradcheck_module(const Module& module, NamedPlaces places, const std::function<Tensor()>& call,
                                         GradcheckOptions options) {
  for (const NamedParameter& p : named_parameters(module)) places.emplace_back(p.name, p.parameter);
  options.small_gradients = true;
  std::vector<std::pair<Generator, GeneratorState>> states;
  for (const NamedStream& s : named_streams(module)) states.emplace_back(s.stream, s.stream.get_state());
  const auto restart = [&states] {
    for (const auto& [stream, state] : states) stream.set_state(state);
  };
  const std::function<Tensor()> same = [&] {
    restart();
    return call();
  };
  const GradcheckResult result = gradcheck(same, places, options);
  restart();
  return result;
}

}  // namespace mote
