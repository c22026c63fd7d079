// Learning rate schedules. The rate is a function of the step alone, so there is no state to save or resume.
#pragma once

#include <array>

#include "engine/base/argument.h"
#include "engine/base/words.h"

namespace mote {

/// The kinds of learning rate schedule. All may have a warm-up. All but `constant` end at min_lr.
enum class ScheduleKind { cosine, linear, wsd, constant };
constexpr auto words(ScheduleKind) {
  return std::to_array<Word<ScheduleKind>>({{ScheduleKind::cosine, "cosine"},
                                            {ScheduleKind::linear, "linear"},
                                            {ScheduleKind::wsd, "wsd"},
                                            {ScheduleKind::constant, "constant"}});
}

/// The options of learning_rate(). Steps are counted from 0, so the first update has step 0.
struct ScheduleOptions {
  double max_lr = 1e-3;
  double min_lr = 0;       ///< the rate from total_steps on; nanoGPT advises max_lr / 10; the warm-up may begin lower
  Index warmup_steps = 0;  ///< 0: no warm-up
  Index total_steps = -1;  ///< steps until the rate is min_lr; required by all but `constant`
  Index decay_steps = -1;  ///< length of the decay before total_steps; required only by `wsd`
};

/// The learning rate of a step. In the warm-up it is max_lr (step + 1) / (warmup_steps + 1). After the warm-up the
/// rate depends on `kind`. p is the fraction of the steps from the end of the warm-up to total_steps that are done.
///   constant: max_lr;
///   cosine: min_lr + (max_lr - min_lr) (1 + cos(pi p)) / 2, half a cosine wave that ends at min_lr (nanoGPT's get_lr;
///     Loshchilov and Hutter 2017);
///   linear: min_lr + (max_lr - min_lr) (1 - p);
///   wsd (warm-up, stable, decay): max_lr until decay_steps before total_steps, then min_lr + (max_lr - min_lr)
///     (1 - sqrt(q)), where q is the fraction of decay_steps that are done. The rates before the decay do not depend on
///     total_steps. So a run that is resumed before its decay may get any new total_steps (Hu et al. 2024, MiniCPM; the
///     square root: Hagele et al. 2024).
/// Errors: counts or rates below 0 or not finite, min_lr above max_lr, a warm-up longer than total_steps, a
/// warm-up and a decay that are longer than total_steps together.
double learning_rate(ScheduleKind kind, Integer step, const ScheduleOptions& o);

}  // namespace mote
