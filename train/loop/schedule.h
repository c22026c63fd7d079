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
  double min_lr = 0;       ///< the rate from total_steps on; nanoGPT advises max_lr / 10; the warm-up may be lower
  Index warmup_steps = 0;  ///< 0: no warm-up
  Index total_steps = -1;  ///< steps until the rate is min_lr; required by all but `constant`
  Index decay_steps = -1;  ///< length of the decay before total_steps; required only by `wsd`
};

/// The learning rate of a step. In the warm-up it is max_lr (step + 1) / (warmup_steps + 1). Then, by kind:
///   constant: max_lr;
///   cosine: min_lr + (1 + cos(pi p)) / 2 (max_lr - min_lr), half a cosine wave down to min_lr at total_steps, where p
///     is the fraction of the steps after the warm-up that are done (nanoGPT's get_lr; Loshchilov and Hutter 2017);
///   linear: min_lr + (1 - p) (max_lr - min_lr);
///   wsd (warm-up, stable, decay): max_lr until decay_steps before total_steps, then min_lr + (1 - sqrt(q)) (max_lr -
///     min_lr), where q is the fraction of decay_steps that are done. The rates before the decay do not depend on
///     total_steps, so a checkpoint from there can go on to any length (Hu et al. 2024, MiniCPM; the square root:
///     Hagele et al. 2024).
/// Errors: counts or rates below 0 or not finite, min_lr above max_lr, a warm-up longer than total_steps, a
/// warm-up and a decay that are longer than total_steps together.
double learning_rate(ScheduleKind kind, Integer step, const ScheduleOptions& o);

}  // namespace mote
