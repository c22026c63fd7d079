// RunState, the state of a run besides its weights, which a checkpoint contains.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/array/random.h"
#include "engine/io/files/safetensors.h"
#include "train/optim/optimizer.h"

namespace mote {

/// What a run has computed so far, besides the weights.
struct RunState {
  Index steps = 0;  ///< training steps taken so far
  std::optional<double> best_score = {};
  /// The state of the stream that batches are drawn from. If it is not given, the stream begins anew from its seed.
  std::optional<GeneratorState> data = {};
  OptimizerState optimizer = {};          ///< by the parameters' names
  std::vector<NamedArray> averages = {};  ///< of an EMA, if there is one, by the parameters' names
  Index averaged = 0;                     ///< how often the averages were updated
};

/// Reads a run's checkpoint and returns its state. `model` gets the weights and the random streams, and `optimizer`
/// gets its state. Errors: those of Checkpoint::load().
RunState read_run_state(const std::string& checkpoint, Module& model, Optimizer& optimizer);

}  // namespace mote
