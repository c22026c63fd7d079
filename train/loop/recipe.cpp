// The optimizer and the fit options that a recipe describes.
#include "train/loop/recipe.h"

#include <algorithm>
#include <cmath>

namespace mote {

std::unique_ptr<Optimizer> make_optimizer(const Recipe& r, const Module& module) {
  return make_optimizer(r.optimizer, module,
                        {.lr = r.learning_rate, .betas = {r.beta1, r.beta2}, .weight_decay = r.weight_decay});
}

FitOptions fit_options(const Recipe& r) {
  const Index decay_end = r.lr_decay_iters.value_or(r.max_iters);
  const auto at_least = [](Index least, const char* name, auto value) {
    check_in("recipe", value >= static_cast<decltype(value)>(least), name, " ", value, " must be at least ", least);
  };
  at_least(0, "max_iters", r.max_iters);
  check_in("recipe", r.batch_size >= 1 && r.batch_size <= 1'000'000, "batch_size ", r.batch_size,
           " must be 1 to 1000000");
  at_least(0, "warmup_iters", r.warmup_iters);
  at_least(0, "lr_decay_iters", decay_end);
  at_least(1, "gradient_accumulation_steps", r.gradient_accumulation_steps);
  at_least(0, "eval_interval", r.eval_interval);
  check_in("recipe", r.eval_iters >= 1 && r.eval_iters <= 10'000'000 / r.batch_size, "eval_iters ", r.eval_iters,
           " must be 1 to ", 10'000'000 / r.batch_size, ": at most 10000000 sequences, in batches of ", r.batch_size);
  at_least(0, "grad_clip", r.grad_clip);
  at_least(0, "learning_rate", r.learning_rate);
  check_in("recipe", !r.min_lr || (*r.min_lr >= 0 && *r.min_lr <= r.learning_rate), "min_lr ", r.min_lr.value_or(0),
           " must be 0 to learning_rate ", r.learning_rate);
  const bool has_end = r.schedule != ScheduleKind::constant;
  const Index warmup = has_end ? std::min(r.warmup_iters, decay_end) : r.warmup_iters, left = decay_end - warmup;
  const double decay = std::round(0.2 * static_cast<double>(decay_end));
  const ScheduleOptions rates{.max_lr = r.learning_rate,
                              .min_lr = r.min_lr.value_or(r.learning_rate / 10),
                              .warmup_steps = warmup,
                              .total_steps = decay_end,
                              .decay_steps = decay < static_cast<double>(left) ? static_cast<Index>(decay) : left};
  FitOptions options;
  options.steps = r.max_iters;
  options.grad_clip = r.grad_clip;
  options.gradient_accumulation_steps = r.gradient_accumulation_steps;
  options.schedule = [rates, kind = r.schedule](Index step) { return mote::learning_rate(kind, step, rates); };
  return options;
}

}  // namespace mote
