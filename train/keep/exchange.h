// A training in the form in which torch keeps it, and back: AdamW's state and a random stream.
#pragma once

#include "engine/array/random.h"
#include "nn/torch_state.h"
#include "train/optim/adamw.h"

namespace mote {

/// What torch.get_rng_state() returns where torch has drawn the same numbers: 5,056 bytes [5056], also the state of a
/// torch.Generator. Its TorchBuild is not in it.
TorchTensor torch_rng_state(const GeneratorState& state);
/// And back. Errors: what is no such state.
GeneratorState generator_state(const TorchValue& rng_state);

/// What optimizer.state_dict() returns for a torch.optim.AdamW over these groups. Parameters are numbered there in the
/// order of `names`. Each has step, exp_avg and exp_avg_sq, transposed and cut into rows as `names` says of the
/// weights. Those of which `state` has nothing have not been updated yet. Errors: a state that is not AdamW's;
/// parameters with different numbers of steps that are one there.
TorchValue torch_optimizer_state(const OptimizerState& state, const std::vector<ParameterGroup>& groups,
                                 const AdamWOptions& o, const NameTable& names = {});
/// And back: into an AdamW over the same groups. Errors: another number of parameters in a group, other shapes, and
/// those of set_state(); nothing has changed then.
void set_torch_optimizer_state(Optimizer& optimizer, const TorchValue& state, const NameTable& names = {});

}  // namespace mote
