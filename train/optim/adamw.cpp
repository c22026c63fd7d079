// The constants of one Adam step. They are compiled here, because a program that includes a header may be compiled
// with fused multiply-adds, which give other bits.
#include "train/optim/adamw.h"

#include <cmath>
#include <limits>

#include "engine/base/math.h"

namespace mote {

/// Returns the constants of one update of a parameter. m and v start at 0, so at first m is too small by the factor 1 -
/// beta1^t, and v by the factor 1 - beta2^t. The constants contain divisions by these factors, which correct m and v.
kernels::MomentsDescent detail::AdamBase::constants(const Slot& slot, double lr) {
  const auto [beta1, beta2] = options_.betas;
  if (corrected_steps_ != slot.steps) {
    const double t = static_cast<double>(slot.steps);
    corrected_steps_ = slot.steps;
    correction1_ = 1 - math::pow(beta1, t);
    correction2_ = 1 - math::pow(beta2, t);
  }
  // The kernel may set running means below the smallest normal number to 0, but only if this does not change the step.
  // The step stays the same if the square root of such a mean vanishes when eps is added to the root.
  using Limits = std::numeric_limits<real>;
  const double root = std::sqrt(static_cast<double>(Limits::min()) / correction2_);
  const bool vanishes = root < options_.eps * static_cast<double>(Limits::epsilon()) / 4;
  return {static_cast<real>(beta1),
          static_cast<real>(1 - beta1),
          static_cast<real>(beta2),
          static_cast<real>(1 - beta2),
          static_cast<real>(decoupled_ ? 1 - lr * slot.weight_decay : 1),
          static_cast<real>(decoupled_ ? 0 : slot.weight_decay),
          static_cast<real>(lr / correction1_),
          static_cast<real>(std::sqrt(correction2_)),
          static_cast<real>(options_.eps),
          vanishes ? Limits::min() : real(0)};
}

}  // namespace mote
