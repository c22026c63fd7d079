// RunState, what a run has come to besides its weights: out of a checkpoint, and as nanoGPT's ckpt.pt and back.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "train/keep/exchange.h"
#include "train/loop/recipe.h"

namespace mote {

struct RunState {
  Index steps = 0;  ///< taken so far
  std::optional<double> best_score = {};
  GeneratorState data = {};               ///< of the stream that batches are drawn from
  OptimizerState optimizer = {};          ///< by the parameters' names
  std::vector<NamedArray> averages = {};  ///< of an EMA, if there is one, by the parameters' names
  Index averaged = 0;                     ///< how often it was updated
};

/// The state that a run's checkpoint has; `model` gets its weights and streams, `optimizer` its state. Errors: those of
/// Checkpoint::load().
RunState read_run_state(const std::string& checkpoint, Module& model, Optimizer& optimizer);

/// nanoGPT's ckpt.pt: model, optimizer, model_args, iter_num, best_val_loss, config; what its trainer does not ask for
/// comes under "mote": the random state of its batches ("rng_state", for torch.set_rng_state()), the averages of an EMA
/// and all `settings`, from which the way back is found. `names` are those of nanoGPT's parameters, `args` its
/// model_args. Errors: another optimizer than AdamW.
TorchValue nanogpt_checkpoint(const Module& model, const NameTable& names, const FieldValues& args,
                              const Recipe& recipe, const RunState& state, const FieldValues& settings);

/// All settings that a ckpt.pt has, as texts by group and name: those that mote wrote into it, else nanoGPT's config
/// and model_args.
FieldValues nanogpt_settings(const TorchValue& checkpoint);
/// And the way back: `model` gets the weights, `optimizer`, over its parameters, the state. A file that nanoGPT itself
/// has saved has no random state: then batches are drawn from `seed`. Errors: names, shapes, groups that do not fit.
RunState nanogpt_state(const TorchValue& checkpoint, Module& model, const NameTable& names, Optimizer& optimizer,
                       Index seed);

}  // namespace mote
