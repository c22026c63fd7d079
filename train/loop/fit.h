// fit, the training loop. It owns nothing and prints nothing: it reports each step to its caller.
#pragma once

#include <functional>
#include <string>

#include "engine/watch/health.h"
#include "train/loop/evaluate.h"
#include "train/optim/optimizer.h"

namespace mote {

/// What happened in one step, reported after the update.
struct StepReport {
  Index step = 0;   ///< counted from 0
  Index steps = 0;  ///< of the whole training
  double loss = 0;  ///< of this step's batch, before its update
  double learning_rate = 0;
  double grad_norm = 0;  ///< before clipping
  // Measured by a Run, in steps in which its options ask for it:
  std::vector<LayerHealth> layers = {};
  std::vector<std::pair<std::string, double>> updates = {};  ///< update_ratio() of each parameter, by its name
};

struct FitOptions {
  Index steps = 1000;    ///< of the whole training
  Index first_step = 0;  ///< where to begin: earlier steps have already been taken
  double grad_clip = 1;  ///< largest global gradient norm; 0: no clipping
  /// How many batches, one after the other, make the gradient of one step: that of all of them as one batch, in the
  /// memory of one. From 2 on the loss has to be a MeanLoss, since the batches may differ in size.
  Index gradient_accumulation_steps = 1;
  /// The learning rate of a step; without it the optimizer keeps its own.
  std::function<double(Index step)> schedule = {};
  /// Called after every step; return false to stop early.
  std::function<bool(const StepReport&)> on_step = {};
  /// Called with the number of steps taken so far: after every `save_every` steps, and at the end, also where on_step
  /// ended it. Saves the run; see train/keep/checkpoint.h.
  std::function<void(Index steps)> save = {};
  Index save_every = 0;  ///< 0: only at the end
  /// Called after the first backward with a sentence that names trainable parameters without a gradient: the loss does
  /// not depend on them (often a layer is missing in forward, or detached). And with one about parameters that received
  /// a gradient although the optimizer does not update them.
  std::function<void(const std::string& text)> on_warning = {};
};

/// For each step from first_step to steps - 1: loss = compute(step), backward, clip, optimizer step. Returns the last
/// loss. `compute` returns a Tensor or a MeanLoss, and is called once for each batch of a step. Gradients are cleared
/// before each step, so the caller's own do not count. Errors: a loss that is not one element, or not finite. The mean
/// over nothing is not finite: an empty batch, every target ignored. A gradient that is not finite. In the first step,
/// an optimizer none of whose parameters gets a gradient, and fields that a layer's visit() forgot (nn/check_fields.h).
/// One in `compute` or in backward ends with " at step N", from 0. Weights, optimizer and learning rate are then still
/// those of the previous step, also when memory runs out.
double fit(Optimizer& optimizer, const std::function<MeanLoss(Index step)>& compute, const FitOptions& options);

/// One step of fit(), up to its report. `first`: it looks for what fit() looks for in its first step.
StepReport fit_step(Optimizer& optimizer, const std::function<MeanLoss(Index step)>& compute, const FitOptions& options,
                    Integer step, bool first);

}  // namespace mote
