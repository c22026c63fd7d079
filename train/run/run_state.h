// RunState, what a run has come to besides its weights: out of a checkpoint.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/array/random.h"
#include "engine/io/files/safetensors.h"
#include "train/optim/optimizer.h"

namespace mote {

struct RunState {
  Index steps = 0;  ///< taken so far
  std::optional<double> best_score = {};
  /// Of the stream that batches are drawn from; not given: it begins.
  std::optional<GeneratorState> data = {};
  OptimizerState optimizer = {};          ///< by the parameters' names
  std::vector<NamedArray> averages = {};  ///< of an EMA, if there is one, by the parameters' names
  Index averaged = 0;                     ///< how often it was updated
};

/// The state that a run's checkpoint has; `model` gets its weights and streams, `optimizer` its state. Errors: those of
/// Checkpoint::load().
RunState read_run_state(const std::string& checkpoint, Module& model, Optimizer& optimizer);

}  // namespace mote
