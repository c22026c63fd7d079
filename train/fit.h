// fit, the training loop. It owns nothing and prints nothing: it reports each step to its caller.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <optional>
#include <string>
#include <utility>

#include "engine/array/stream_guard.h"
#include "engine/autograd/op.h"
#include "nn/check_fields.h"
#include "train/clip.h"
#include "train/mean_loss.h"
#include "train/optimizer.h"

namespace mote {

/// What happened in one step, reported after the update.
struct StepReport {
  Index step = 0;   ///< counted from 0
  Index steps = 0;  ///< of the whole training
  double loss = 0;  ///< of this step's batch, before its update
  double learning_rate = 0;
  double grad_norm = 0;  ///< before clipping
};

struct FitOptions {
  Index steps = 1000;    ///< of the whole training
  Index first_step = 0;  ///< where to begin: earlier steps have already been taken
  double grad_clip = 1;  ///< largest global gradient norm; 0: no clipping
  /// How many batches, one after the other, make the gradient of one step: that of all of them as one batch, in the
  /// memory of one.
  Index gradient_accumulation_steps = 1;
  /// The learning rate of a step; without it the optimizer keeps its own.
  std::function<double(Index step)> schedule = {};
  /// Called after every step; return false to stop early.
  std::function<bool(const StepReport&)> on_step = {};
  /// Called with the number of steps taken so far: after every `save_every` steps, and at the end, also where on_step
  /// ended it. Saves the run; see train/checkpoint.h.
  std::function<void(Index steps)> save = {};
  Index save_every = 0;  ///< 0: only at the end
  /// Called after the first backward with a sentence that names trainable parameters without a gradient: the loss does
  /// not depend on them (often a layer is missing in forward, or detached). And with one about parameters that received
  /// a gradient although the optimizer does not update them.
  std::function<void(const std::string& text)> on_warning = {};
};

namespace detail {
/// The losses of the batches of one step, and the sum of their gradients.
class StepLoss {
 public:
  StepLoss(Index step, Index batches) : step_(step), batches_(batches) {}
  /// Backward of one batch. Errors: a loss that is not one element, or not finite.
  void add(const MeanLoss& batch, const Optimizer& optimizer);
  /// The mean loss. Errors: no batch had a term.
  double mean() const;
  /// What the gradients that are there now have to be multiplied by to be those of the mean loss.
  double scale() const { return batches_ == 1 ? 1 : 1 / static_cast<double>(count_); }

 private:
  Index step_, batches_, count_ = 0;
  double sum_ = 0;
};
/// optimizer.step(grad_scale) with this learning rate, which an error takes back.
void step_at(Optimizer& optimizer, double learning_rate, double grad_scale);
/// What fit() looks for after its first backward. Errors: fields that visit() forgot, unless a parameter got no
/// gradient or the optimizer updates it all the same; no gradient in any parameter of the optimizer.
void look_at_first_step(const Optimizer& optimizer, const FieldWatch& fields,
                        const std::function<void(const std::string&)>& on_warning);
/// Errors: options that cannot be.
void check_fit(const FitOptions& options);
}  // namespace detail

/// For each step from first_step to steps - 1: loss = compute(step), backward, clip, optimizer step. Returns the last
/// loss. `compute` returns a Tensor or a MeanLoss, and is called once for each batch of a step. Gradients are cleared
/// before each step, so the caller's own do not count. Errors: a loss that is not one element, or not finite, which is
/// what the mean over nothing is (an empty batch, every target ignored); a gradient that is not finite; in the first
/// step, an optimizer none of whose parameters gets a gradient, and fields that a layer's visit() forgot
/// (nn/check_fields.h). Weights, optimizer, learning rate and the random streams drawn from in `compute` are then still
/// those of the previous step, also when memory runs out.
template <std::invocable<Index> Compute>
double fit(Optimizer& optimizer, Compute&& compute, const FitOptions& options) {
  detail::check_fit(options);
  double last = 0;
  for (Index step = options.first_step; step < options.steps; ++step) {
    std::optional<StreamGuard> streams(std::in_place);
    optimizer.zero_grad();
    std::optional<FieldWatch> fields;
    if (step == options.first_step) fields.emplace();
    detail::StepLoss loss(step, options.gradient_accumulation_steps);
    for (Index i = 0; i < options.gradient_accumulation_steps; ++i) loss.add(compute(step), optimizer);
    last = loss.mean();
    if (fields) detail::look_at_first_step(optimizer, *fields, options.on_warning);
    StepReport report{step, options.steps, last, 0, detail::gradient_norm(optimizer.parameters()) * loss.scale()};
    check_in("fit", std::isfinite(report.grad_norm), "the gradient of step ", step, " is not finite (norm ",
             report.grad_norm, "): run with MOTE_CHECK=finite to see where it starts");
    const real clipping = options.grad_clip > 0 ? detail::clip_factor(report.grad_norm, options.grad_clip) : real(1);
    detail::step_at(optimizer, options.schedule ? options.schedule(step) : optimizer.learning_rate(),
                    static_cast<double>(clipping) * loss.scale());
    report.learning_rate = optimizer.learning_rate();
    streams.reset();  // the step has been taken, whatever on_step does
    const bool go_on = !options.on_step || options.on_step(report);
    const bool last_step = !go_on || step + 1 == options.steps;
    if (options.save && (last_step || (options.save_every > 0 && (step + 1) % options.save_every == 0)))
      options.save(step + 1);
    if (!go_on) break;
  }
  return last;
}

}  // namespace mote
