// fit, the training loop. It owns nothing and prints nothing. It reports each step to its caller.
#pragma once

#include <functional>
#include <string>

#include "engine/watch/health.h"
#include "train/loop/evaluate.h"
#include "train/optim/optimizer.h"

namespace mote {

/// The report of one step, made after its update.
struct StepReport {
  Index step = 0;   ///< counted from 0
  Index steps = 0;  ///< steps of the whole training
  double loss = 0;  ///< the loss of this step's batch, before the update
  double learning_rate = 0;
  double grad_norm = 0;  ///< before clipping
  // `layers` and `updates` are only set by a Run, in the steps for which its option `health` asks for measurements.
  std::vector<LayerHealth> layers = {};
  std::vector<std::pair<std::string, double>> updates = {};  ///< update_ratio() of each trainable parameter, by name
};

/// The settings of fit().
struct FitOptions {
  Index steps = 1000;    ///< steps of the whole training
  Index first_step = 0;  ///< the step to begin with; earlier steps have already been taken
  double grad_clip = 1;  ///< largest global gradient norm; 0: no clipping
  /// The number of batches whose gradients are accumulated in one step. The result is the gradient of one large batch
  /// that contains all of them, but it needs only the memory of a single batch. If there are two or more, the loss has
  /// to be a MeanLoss, because the batches may differ in size.
  Index gradient_accumulation_steps = 1;
  /// The learning rate of each step. If it is not given, the optimizer keeps its own learning rate.
  std::function<double(Index step)> schedule = {};
  /// Called after every step; return false to stop early.
  std::function<bool(const StepReport&)> on_step = {};
  /// Saves the run; see train/keep/checkpoint.h. It is called with the number of steps taken so far, after every
  /// `save_every` steps and at the end, also if on_step ended the training.
  std::function<void(Index steps)> save = {};
  Index save_every = 0;  ///< steps between two calls of `save`; 0: only at the end
  /// Receives warnings as sentences, after the first backward. One warning names trainable parameters without a
  /// gradient. The loss does not depend on these parameters, often because forward does not call a layer or detaches a
  /// result. Another warning is about parameters that have received a gradient but that the optimizer does not update.
  std::function<void(const std::string& text)> on_warning = {};
};

/// Runs the training loop and returns the last loss. Each step from first_step to steps - 1 is loss = compute(step),
/// backward, clipping, and a step of the optimizer. `compute` returns a Tensor or a MeanLoss, and is called once for
/// each batch of a step. Gradients are cleared before each step, so gradients from before the call do not count.
///
/// Errors: a loss that is not one element, or not finite (such as the mean over an empty batch, or over targets that
/// are all ignored); a gradient that is not finite; in the first step, an optimizer none of whose parameters gets a
/// gradient, or fields that a layer's visit() forgot (nn/check_fields.h). The message of an error in `compute` or in
/// backward ends with " at step N", counted from 0. After an error the weights, the optimizer and the learning rate are
/// those of the previous step, also when memory runs out.
double fit(Optimizer& optimizer, const std::function<MeanLoss(Index step)>& compute, const FitOptions& options);

/// Takes one step of fit() and returns its report, without calling on_step or save. `first` turns on the checks that
/// fit() makes in its first step.
StepReport fit_step(Optimizer& optimizer, const std::function<MeanLoss(Index step)>& compute, const FitOptions& options,
                    Integer step, bool first);

}  // namespace mote
