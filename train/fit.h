// fit, the training loop. It owns nothing and prints nothing: it reports each step to its caller.
#pragma once

#include <cmath>
#include <concepts>
#include <functional>
#include <optional>
#include <string>

#include "engine/array/stream_guard.h"
#include "engine/autograd/op.h"
#include "nn/check_fields.h"
#include "train/clip.h"
#include "train/optimizer.h"

namespace mote {

/// What happened in one step, reported after the update.
struct StepReport {
  Index step = 0;   ///< counted from 0
  Index steps = 0;  ///< of the whole training
  double loss = 0;  ///< of this step's batch, before its update
  double learning_rate = 0;
  double grad_norm = 0;  ///< before clipping; 0 when clipping is off
};

struct FitOptions {
  Index steps = 1000;    ///< of the whole training
  Index first_step = 0;  ///< where to begin: earlier steps have already been taken
  double clip = 1;       ///< largest global gradient norm; 0: no clipping
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
  /// a gradient although no optimizer updates them.
  std::function<void(const std::string& text)> on_warning = {};
};

namespace detail {
/// Whether a loss is NaN and yet does not depend on the weights that it was computed from. Takes their gradients.
bool mean_of_nothing(const Tensor& loss, const Optimizer& optimizer);
/// optimizer.step(grad_scale) with this learning rate, which an error takes back.
void step_at(Optimizer& optimizer, double learning_rate, real grad_scale);
/// What fit() looks for after its first backward. Errors: fields that visit() forgot, unless a parameter got no gradient
/// or another optimizer updates it; no gradient in any parameter of the optimizer.
void look_at_first_step(const Optimizer& optimizer, const FieldWatch& fields,
                        const std::function<void(const std::string&)>& on_warning);
}  // namespace detail

/// For each step from first_step to steps - 1: loss = compute(step), backward, clip, optimizer step. Returns the last
/// loss. Gradients are cleared before each step, so the caller's own do not count. Errors: a loss that is not one
/// element, or not finite, which is what the mean over nothing is (an empty batch, every target ignored); with clipping,
/// a gradient that is not finite; in the first step, an optimizer none of whose parameters gets a gradient, and fields
/// that a layer's visit() forgot (nn/check_fields.h). Weights, optimizer, learning rate and the random streams drawn
/// from in `compute` are then still those of the previous step, also when memory runs out.
template <std::invocable<Index> Compute>
double fit(Optimizer& optimizer, Compute&& compute, const FitOptions& options) {
  check_in("fit", options.clip >= 0, "clip ", options.clip, " must be at least 0");
  check_in("fit", options.save_every >= 0, "save_every ", options.save_every, " must be at least 0");
  check_in("fit", options.steps >= 0, "steps ", options.steps, " must be at least 0");
  check_in("fit", options.first_step >= 0 && options.first_step <= options.steps, "first_step ", options.first_step,
           " must be 0 to steps ", options.steps);
  double last = 0;
  for (Index step = options.first_step; step < options.steps; ++step) {
    std::optional<StreamGuard> streams(std::in_place);
    optimizer.zero_grad();
    std::optional<FieldWatch> fields;
    if (step == options.first_step) fields.emplace();
    const Tensor loss = compute(step);
    loss.array().require("fit");
    check_in("fit", loss.numel() == 1, "the loss of step ", step, " has shape ", loss.shape(), ", not one element");
    last = static_cast<double>(loss.item());
    check_in("fit", !detail::mean_of_nothing(loss, optimizer), "the loss of step ", step,
             " is a mean over nothing: an empty batch, or every target ignored");
    check_in("fit", std::isfinite(last), "the loss of step ", step, " is ", last,
             ": lower the learning rate, or run with MOTE_CHECK=finite to see where it starts");
    loss.backward();
    if (fields) detail::look_at_first_step(optimizer, *fields, options.on_warning);
    StepReport report{step, options.steps, last, 0, 0};
    if (options.clip > 0) report.grad_norm = detail::gradient_norm(optimizer.parameters());
    check_in("fit", std::isfinite(report.grad_norm), "the gradient of step ", step, " is not finite (norm ",
             report.grad_norm, "): run with MOTE_CHECK=finite to see where it starts");
    const real clipping = options.clip > 0 ? detail::clip_factor(report.grad_norm, options.clip) : real(1);
    detail::step_at(optimizer, options.schedule ? options.schedule(step) : optimizer.learning_rate(), clipping);
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
