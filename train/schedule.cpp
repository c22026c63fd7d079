// The formulas of the schedules. Compiled here: fused into other multiply-adds they would give other bits.
#include "train/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/check.h"
#include "engine/base/math.h"

namespace mote {
namespace {

void check_schedule(const char* name, Index step, const ScheduleOptions& o, bool has_end) {
  check_in(name, step >= 0, "step ", step, " must be at least 0");
  check_in(name, o.warmup_steps >= 0, "warmup_steps ", o.warmup_steps, " must be at least 0");
  check_in(name, std::isfinite(o.max_lr) && o.max_lr >= 0, "max_lr ", o.max_lr, " must be at least 0 and finite");
  if (!has_end) return;
  check_in(name, o.min_lr >= 0 && o.min_lr <= o.max_lr, "min_lr ", o.min_lr, " must be 0 to max_lr ", o.max_lr);
  check_in(name, o.total_steps >= 0, "total_steps ", o.total_steps, " must be given and at least 0");
  check_in(name, o.warmup_steps <= o.total_steps, "warmup_steps ", o.warmup_steps, " must be at most total_steps ",
           o.total_steps);
}

/// max_lr (step + 1) / (warmup_steps + 1): never 0, which would waste the first step.
double warmup(Index step, const ScheduleOptions& o) {
  return o.max_lr * (static_cast<double>(step) + 1) / (static_cast<double>(o.warmup_steps) + 1);
}

/// max_lr where `share` is 1, min_lr where it is 0; rounding never leaves that range.
double between(double share, const ScheduleOptions& o) {
  return std::clamp(o.min_lr + share * (o.max_lr - o.min_lr), o.min_lr, o.max_lr);
}

/// The share of the steps from the end of the warm-up to total_steps that are done at `step`.
double progress(Index step, const ScheduleOptions& o) {
  return static_cast<double>(step - o.warmup_steps) / static_cast<double>(o.total_steps - o.warmup_steps);
}

}  // namespace

double constant(Index step, const ScheduleOptions& o) {
  check_schedule("constant", step, o, false);
  return step < o.warmup_steps ? warmup(step, o) : o.max_lr;
}

double warmup_cosine(Index step, const ScheduleOptions& o) {
  check_schedule("warmup_cosine", step, o, true);
  if (step < o.warmup_steps) return warmup(step, o);
  if (step >= o.total_steps) return o.min_lr;
  return between(0.5 * (1 + math::cos(std::numbers::pi * progress(step, o))), o);
}

double warmup_linear(Index step, const ScheduleOptions& o) {
  check_schedule("warmup_linear", step, o, true);
  if (step < o.warmup_steps) return warmup(step, o);
  if (step >= o.total_steps) return o.min_lr;
  return between(1 - progress(step, o), o);
}

double warmup_stable_decay(Index step, const ScheduleOptions& o) {
  check_schedule("warmup_stable_decay", step, o, true);
  check_in("warmup_stable_decay", o.decay_steps >= 0, "decay_steps ", o.decay_steps, " must be given and at least 0");
  check_in("warmup_stable_decay", o.decay_steps <= o.total_steps - o.warmup_steps, "decay_steps ", o.decay_steps,
           " must be at most the ", o.total_steps - o.warmup_steps, " steps after the warm-up");
  if (step < o.warmup_steps) return warmup(step, o);
  if (step >= o.total_steps) return o.min_lr;
  const Index left = o.total_steps - step;
  if (left >= o.decay_steps) return o.max_lr;
  const double done = static_cast<double>(o.decay_steps - left) / static_cast<double>(o.decay_steps);
  return between(1 - std::sqrt(done), o);
}

}  // namespace mote
