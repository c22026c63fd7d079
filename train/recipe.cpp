// The optimizer and the fit options that a recipe describes.
#include "train/recipe.h"

#include <algorithm>

#include "train/adamw.h"
#include "train/schedule.h"
#include "train/sgd.h"

namespace mote {

std::unique_ptr<Optimizer> make_optimizer(const Recipe& r, const Module& module) {
  switch (r.optimizer) {
    case OptimizerKind::adamw:
      return std::make_unique<AdamW>(decay_groups(module, r.weight_decay), AdamWOptions{.lr = r.learning_rate});
    case OptimizerKind::adam:
      return std::make_unique<Adam>(all_parameters(module, r.weight_decay), AdamOptions{.lr = r.learning_rate});
    case OptimizerKind::sgd:
      return std::make_unique<SGD>(all_parameters(module, r.weight_decay), SGDOptions{.lr = r.learning_rate});
  }
  throw Error("recipe: unknown optimizer");
}

FitOptions fit_options(const Recipe& r) {
  check_in("recipe", r.steps >= 0, "steps ", r.steps, " must be at least 0");
  check_in("recipe", r.batch_size >= 1, "batch_size ", r.batch_size, " must be at least 1");
  check_in("recipe", r.warmup >= 0, "warmup ", r.warmup, " must be at least 0");
  const ScheduleOptions rates{.max_lr = r.learning_rate,
                              .min_lr = r.schedule == ScheduleKind::cosine ? r.learning_rate / 10 : 0,
                              .warmup_steps = std::min(r.warmup, r.steps),
                              .total_steps = r.steps};
  FitOptions options;
  options.steps = r.steps;
  options.clip = r.clip;
  if (r.schedule == ScheduleKind::cosine)
    options.schedule = [rates](Index step) { return warmup_cosine(step, rates); };
  else
    options.schedule = [rates](Index step) { return constant(step, rates); };
  return options;
}

}  // namespace mote
