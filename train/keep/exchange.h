// A training in the form in which torch keeps it, and back: AdamW's state, a random stream, weights.
#pragma once

#include "engine/array/random.h"
#include "engine/io/files/torch_file.h"
#include "nn/state_dict.h"
#include "train/optim/adamw.h"

namespace mote {

/// What torch.get_rng_state() returns where torch has drawn the same numbers: 5,056 bytes [5056], also the state of a
/// torch.Generator. Its TorchBuild is not in it.
TorchTensor torch_rng_state(const GeneratorState& state);
/// And back. Errors: what is no such state.
GeneratorState generator_state(const TorchValue& rng_state);

/// What optimizer.state_dict() returns for a torch.optim.AdamW over these groups: each parameter there, numbered in the
/// order of `names`, has step, exp_avg and exp_avg_sq, transposed and cut into rows as `names` says of the weights.
/// Those of which `state` has nothing have not been updated yet. Errors: a state that is not AdamW's; parameters with
/// different numbers of steps that are one there.
TorchValue torch_optimizer_state(const OptimizerState& state, const std::vector<ParameterGroup>& groups,
                                 const AdamWOptions& o, const NameTable& names = {});
/// And back: into an AdamW over the same groups. Errors: another number of parameters in a group, other shapes, and
/// those of set_state(); nothing has changed then.
void set_torch_optimizer_state(Optimizer& optimizer, const TorchValue& state, const NameTable& names = {});

/// model.state_dict() there, under these names; and what load_state_dict() takes here.
TorchValue torch_state_dict(const Module& module, const NameTable& names = {});
/// Errors: what is no dict of names. What a name stands for is asked for when it is read.
StateDict state_dict(const TorchValue& torch_state_dict, const std::string& what = "the state");

namespace detail {
/// The entry of a dict; null if there is none.
const TorchValue* find(const TorchValue& dict, const std::string& name);
/// Errors: there is none.
const TorchValue& at(const TorchValue& dict, const std::string& name);
/// An int, a float or the only element of a tensor. Errors: anything else; of a count, too, what counts nothing.
double number_of(const TorchValue& value, const std::string& what);
Index count_of(const TorchValue& value, const std::string& what);
}  // namespace detail

}  // namespace mote
