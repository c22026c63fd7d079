// Recipe, the training settings for a task as plain data; functions that make its optimizer and its fit options.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "nn/fields.h"
#include "train/loop/fit.h"
#include "train/loop/schedule.h"
#include "train/optim/optimizer_list.h"

namespace mote {

/// The settings of a training: the model's config, the optimizer, the schedule and so on. Their names are nanoGPT's
/// where nanoGPT has the setting.
struct Recipe {
  /// Fields of the model's config, for gpt_config(). They are texts, because train/ does not depend on models/.
  FieldValues config = {{"n_layer", "2"}, {"n_head", "4"}, {"n_embd", "64"}};

  OptimizerKind optimizer = OptimizerKind::adamw;
  ScheduleKind schedule = ScheduleKind::cosine;
  Index max_iters = 600, batch_size = 64, gradient_accumulation_steps = 1;
  double learning_rate = 1e-3;
  std::optional<double> min_lr = {};  ///< not given: a tenth of learning_rate
  Index warmup_iters = 50;
  std::optional<Index> lr_decay_iters = {};  ///< not given: max_iters
  double beta1 = 0.9, beta2 = 0.999;
  double weight_decay = 0.1, grad_clip = 1;
  double ema_decay = 0;
  Index eval_interval = 100, eval_iters = 4;

  template <class V>
  void visit(V& v) {
    v("optimizer", optimizer, "the optimizer");
    v("schedule", schedule, "how the learning rate changes after the warm-up; wsd: constant, and a decay at the end");
    v("max_iters", max_iters, "training steps", {.may_change = true});
    v("batch_size", batch_size, "sequences in a batch");
    v("gradient_accumulation_steps", gradient_accumulation_steps, "batches whose gradients are added for one step");
    v("learning_rate", learning_rate, "its peak");
    const bool ends = schedule != ScheduleKind::constant;
    v("min_lr", min_lr, "the learning rate at the end, unless it is constant; default: a tenth of the peak",
      {.needs = ends ? "" : "schedules that end with it"});
    v("warmup_iters", warmup_iters, "steps in which the learning rate rises to its peak");
    v("lr_decay_iters", lr_decay_iters, "steps after which the learning rate has decayed to min_lr; default: max_iters",
      {.needs = ends ? "" : "schedules that come to an end"});
    const FieldUse averages{.needs = optimizer == OptimizerKind::sgd ? "optimizers that keep means of gradients" : ""};
    v("beta1", beta1, "decay of the running mean of gradients", averages);
    v("beta2", beta2, "decay of the running mean of squared gradients", averages);
    v("weight_decay", weight_decay, "weight decay; adamw and muon decay only matrices");
    v("grad_clip", grad_clip, "largest gradient norm; 0: no clipping");
    v("ema_decay", ema_decay,
      "decay of a running mean of the weights, which is evaluated in their place; 0: no such mean");
    v("eval_interval", eval_interval, "steps between two evaluations on held-out data; 0: only at the end",
      {.may_change = true});
    v("eval_iters", eval_iters, "number of batches for the loss of an evaluation");
  }
};

/// Makes the optimizer that a recipe names, with the recipe's learning rate, betas and weight decay.
std::unique_ptr<Optimizer> make_optimizer(const Recipe& recipe, const Module& module);

/// Makes the fit options of a recipe: steps, clipping, gradient accumulation and schedule. A schedule that decays ends
/// after lr_decay_iters steps, and a warm-up that is longer is cut short. The decay of wsd takes the last fifth of
/// these steps, or fewer if the warm-up leaves fewer. `constant` has no end, so its warm-up is never cut short. If
/// lr_decay_iters is given or the schedule is constant, the learning rates do not depend on max_iters. Errors: a count,
/// learning_rate or grad_clip below 0; a batch_size, gradient_accumulation_steps or eval_iters below 1; a batch_size
/// above 1,000,000; more than 10,000,000 sequences in eval_iters batches; a min_lr below 0 or above learning_rate.
FitOptions fit_options(const Recipe& recipe);

}  // namespace mote
