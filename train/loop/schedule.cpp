// The formulas of the schedules. They are compiled here, because a program that includes a header may be compiled with
// fused multiply-adds, which give other bits.
#include "train/loop/schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "engine/base/math.h"

namespace mote {
namespace {

void check_schedule(ScheduleKind kind, Index step, const ScheduleOptions& o) {
  constexpr const char* name = "learning_rate";
  check_in(name, step >= 0, "step ", step, " must be at least 0");
  check_in(name, o.warmup_steps >= 0, "warmup_steps ", o.warmup_steps, " must be at least 0");
  check_in(name, std::isfinite(o.max_lr) && o.max_lr >= 0, "max_lr ", o.max_lr, " must be at least 0 and finite");
  if (kind == ScheduleKind::constant) return;
  check_in(name, o.min_lr >= 0 && o.min_lr <= o.max_lr, "min_lr ", o.min_lr, " must be 0 to max_lr ", o.max_lr);
  check_in(name, o.total_steps >= 0, "total_steps must be given and at least 0, not ", o.total_steps);
  check_in(name, o.warmup_steps <= o.total_steps, "warmup_steps ", o.warmup_steps, " must be at most total_steps ",
           o.total_steps);
  if (kind != ScheduleKind::wsd) return;
  check_in(name, o.decay_steps >= 0, "decay_steps must be given and at least 0, not ", o.decay_steps);
  check_in(name, o.decay_steps <= o.total_steps - o.warmup_steps, "decay_steps ", o.decay_steps,
           " must be at most the ", o.total_steps - o.warmup_steps, " steps after the warm-up");
}

}  // namespace

double learning_rate(ScheduleKind kind, Integer step, const ScheduleOptions& o) {
  check_schedule(kind, step, o);
  // step + 1, because a learning rate of 0 would waste the first step.
  if (step < o.warmup_steps)
    return o.max_lr * (static_cast<double>(step) + 1) / (static_cast<double>(o.warmup_steps) + 1);
  if (kind == ScheduleKind::constant) return o.max_lr;
  if (step >= o.total_steps) return o.min_lr;
  const Index left = o.total_steps - step, since = step - o.warmup_steps;
  const double p = static_cast<double>(since) / static_cast<double>(o.total_steps - o.warmup_steps);
  double height = 0;  // 1: max_lr, 0: min_lr
  if (kind == ScheduleKind::cosine) height = 0.5 * (1 + math::cos(std::numbers::pi * p));
  if (kind == ScheduleKind::linear) height = 1 - p;
  if (kind == ScheduleKind::wsd) {
    if (left >= o.decay_steps) return o.max_lr;
    height = 1 - std::sqrt(static_cast<double>(o.decay_steps - left) / static_cast<double>(o.decay_steps));
  }
  // clamp, so that rounding cannot take the rate out of the range.
  return std::clamp(o.min_lr + height * (o.max_lr - o.min_lr), o.min_lr, o.max_lr);
}

}  // namespace mote
