// Converts the state of a training to torch's form and back: the state of AdamW, and the state of a random stream.
#pragma once

#include "engine/array/random.h"
#include "nn/torch_state.h"
#include "train/optim/adamw.h"

namespace mote {

/// The state that torch.get_rng_state() returns if torch has drawn the same numbers from the same seed: a tensor [5056]
/// of bytes. It is also the state of a torch.Generator. It does not say which build of torch it is for (TorchBuild).
TorchTensor torch_rng_state(const GeneratorState& state);
/// Reads a state that torch.get_rng_state() returned. Errors: a value that is not the state of a torch stream.
GeneratorState generator_state(const TorchValue& rng_state);

/// The dict that optimizer.state_dict() returns for a torch.optim.AdamW over these groups. It numbers the parameters in
/// the order of `names`. Each parameter has step, exp_avg and exp_avg_sq. Both averages are transposed or cut into rows
/// if `names` says so for the weights. A parameter that `state` does not contain has not been updated yet. Errors: a
/// state that is not AdamW's; parameters that are one parameter in torch, but have had different numbers of steps.
TorchValue torch_optimizer_state(const OptimizerState& state, const std::vector<ParameterGroup>& groups,
                                 const AdamWOptions& o, const NameTable& names = {});
/// Sets the state of an AdamW from the state_dict() of a torch.optim.AdamW over the same groups. Errors: another number
/// of parameters in a group, other shapes, and those of Optimizer::set_state(). After an error nothing has changed.
void set_torch_optimizer_state(Optimizer& optimizer, const TorchValue& state, const NameTable& names = {});

}  // namespace mote
