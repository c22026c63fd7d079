// Learning rate schedules, as functions of the step alone: no state to save or resume.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/check.h"
#include "engine/base/math.h"
#include "engine/base/real.h"

namespace mote {

/// Steps are counted from 0: the first update has step 0.
struct ScheduleOptions {
  double max_lr = 1e-3;
  double min_lr = 0;       ///< from total_steps on; nanoGPT advises max_lr / 10. The warm-up may be below it.
  Index warmup_steps = 0;  ///< 0: no warm-up
  Index total_steps = -1;  ///< required by all but constant()
};

namespace detail {
inline void check_schedule(const char* name, Index step, const ScheduleOptions& o, bool has_end) {
  check_in(name, step >= 0, "step ", step, " must be at least 0");
  check_in(name, std::isfinite(o.max_lr) && o.min_lr >= 0 && o.min_lr <= o.max_lr,
           "learning rates must satisfy 0 <= min_lr <= max_lr, but min_lr is ", o.min_lr, " and max_lr ", o.max_lr);
  check_in(name, o.warmup_steps >= 0, "warmup_steps ", o.warmup_steps, " must be at least 0");
  if (!has_end) return;
  check_in(name, o.total_steps >= 0, "total_steps ", o.total_steps, " must be given and at least 0");
  check_in(name, o.warmup_steps <= o.total_steps, "warmup_steps ", o.warmup_steps, " must be at most total_steps ",
           o.total_steps);
}

/// max_lr (step + 1) / (warmup_steps + 1): never 0, which would waste the first step.
inline double warmup(Index step, const ScheduleOptions& o) {
  return o.max_lr * (static_cast<double>(step) + 1) / (static_cast<double>(o.warmup_steps) + 1);
}

/// max_lr where `share` is 1, min_lr where it is 0; rounding never leaves that range.
inline double between(double share, const ScheduleOptions& o) {
  return std::clamp(o.min_lr + share * (o.max_lr - o.min_lr), o.min_lr, o.max_lr);
}

/// The share of the steps from the end of the warm-up to total_steps that are done at `step`.
inline double progress(Index step, const ScheduleOptions& o) {
  return static_cast<double>(step - o.warmup_steps) / static_cast<double>(o.total_steps - o.warmup_steps);
}
}  // namespace detail

/// Linear warm-up to max_lr, which then stays; min_lr and total_steps do not matter. Errors: those of warmup_cosine.
inline double constant(Index step, const ScheduleOptions& o) {
  detail::check_schedule("constant", step, o, false);
  return step < o.warmup_steps ? detail::warmup(step, o) : o.max_lr;
}

/// Linear warm-up, then half a cosine wave from max_lr down to min_lr, which it reaches at total_steps and keeps:
/// min_lr + (1 + cos(pi p)) / 2 (max_lr - min_lr), p = (step - warmup_steps) / (total_steps - warmup_steps).
/// Errors: counts or rates below 0 or not finite, min_lr above max_lr, a warm-up longer than total_steps.
/// Source: nanoGPT's get_lr; Loshchilov and Hutter 2017 without restarts.
inline double warmup_cosine(Index step, const ScheduleOptions& o) {
  detail::check_schedule("warmup_cosine", step, o, true);
  if (step < o.warmup_steps) return detail::warmup(step, o);
  if (step >= o.total_steps) return o.min_lr;
  return detail::between(0.5 * (1 + math::cos(std::numbers::pi * detail::progress(step, o))), o);
}

/// Linear warm-up, then a straight line from max_lr down to min_lr, which it reaches at total_steps and keeps.
/// Errors: those of warmup_cosine.
inline double warmup_linear(Index step, const ScheduleOptions& o) {
  detail::check_schedule("warmup_linear", step, o, true);
  if (step < o.warmup_steps) return detail::warmup(step, o);
  if (step >= o.total_steps) return o.min_lr;
  return detail::between(1 - detail::progress(step, o), o);
}

}  // namespace mote
