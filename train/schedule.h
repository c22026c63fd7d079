// Learning rate schedules, as functions of the step alone: no state to save or resume.
#pragma once

#include "engine/base/real.h"

namespace mote {

/// Steps are counted from 0: the first update has step 0.
struct ScheduleOptions {
  double max_lr = 1e-3;
  double min_lr = 0;       ///< from total_steps on; nanoGPT advises max_lr / 10. The warm-up may be below it.
  Index warmup_steps = 0;  ///< 0: no warm-up
  Index total_steps = -1;  ///< required by all but constant()
  Index decay_steps = -1;  ///< the last steps before total_steps; required by warmup_stable_decay() alone
};

/// Linear warm-up to max_lr, which then stays; the other options do not matter. Errors: those of warmup_cosine that
/// concern step, max_lr and warmup_steps.
double constant(Index step, const ScheduleOptions& o);

/// Linear warm-up, then half a cosine wave from max_lr down to min_lr, which it reaches at total_steps and keeps:
/// min_lr + (1 + cos(pi p)) / 2 (max_lr - min_lr), p = (step - warmup_steps) / (total_steps - warmup_steps).
/// Errors: counts or rates below 0 or not finite, min_lr above max_lr, a warm-up longer than total_steps.
/// Source: nanoGPT's get_lr; Loshchilov and Hutter 2017 without restarts.
double warmup_cosine(Index step, const ScheduleOptions& o);

/// Linear warm-up, then a straight line from max_lr down to min_lr, which it reaches at total_steps and keeps.
/// Errors: those of warmup_cosine.
double warmup_linear(Index step, const ScheduleOptions& o);

/// Linear warm-up to max_lr, which stays until decay_steps before total_steps, then
/// min_lr + (1 - sqrt(p)) (max_lr - min_lr), p = the share of decay_steps that are done; min_lr from total_steps on.
/// All steps before the decay are those of a longer training, too: a checkpoint from there can go on to any length.
/// Errors: those of warmup_cosine; decay_steps below 0 or not left after the warm-up.
/// Source: Hu et al. 2024 (MiniCPM); the shape: Hagele et al. 2024.
double warmup_stable_decay(Index step, const ScheduleOptions& o);

}  // namespace mote
