// Adam and AdamW, which divide the step of each element by the root mean square of its recent gradients.
#pragma once

#include <array>

#include "engine/base/math.h"
#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "train/optim/optimizer.h"

namespace mote {

/// The options of Adam, with PyTorch's names and defaults.
struct AdamOptions {
  double lr = 1e-3;
  /// The fractions that a step keeps of two running means: that of the gradient, and that of its square.
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;        ///< added to the denominator, to avoid 0 / 0 where the gradient is 0
  double weight_decay = 0;  ///< for parameter groups that do not set their own
};
struct AdamWOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.01;
};

namespace detail {
/// The base class of Adam, AdamW and Muon. It takes Adam's step, with coupled or decoupled weight decay. Muon takes
/// this step for parameters that it does not orthogonalize.
class AdamBase : public Optimizer {
 protected:
  AdamBase(OpName name, std::vector<Rule> rules, const AdamOptions& options, bool decoupled)
      : Optimizer(name, std::move(rules), options.lr, options.weight_decay), options_(options), decoupled_(decoupled) {
    check_setting("eps", options.eps);
    for (const double& beta : options.betas)
      check_in(name, beta >= 0 && beta < 1, "beta", &beta - options.betas.data() + 1, " ", beta, " must be in [0, 1)");
  }
  static Rule by_adam(std::vector<ParameterGroup> groups) { return {std::move(groups), {"exp_avg", "exp_avg_sq"}}; }

  bool prepare(Slot& slot) override { return prepare_in_place(slot), true; }
  void update(Slot& slot, double lr) override {
    const kernels::MomentsDescent step = constants(slot, lr);
    real* const w = slot.parameter.mutate();
    real* const m = slot.arrays[0].mutate();
    real* const v = slot.arrays[1].mutate();
    const real* const g = slot.parameter.grad().data();
    parallel_for(slot.parameter.numel(), grain_for(0.5), [&](Index lo, Index hi) {
      kernels::table().descend_by_moments(step, w + lo, g + lo, m + lo, v + lo, hi - lo);
    });
  }

 private:
  kernels::MomentsDescent constants(const Slot& slot, double lr);

  AdamOptions options_;
  bool decoupled_;
  // The bias corrections of the update with the number corrected_steps_. They are cached, because usually all
  // parameters have the same number of updates.
  Index corrected_steps_ = 0;
  double correction1_ = 0, correction2_ = 0;
};
}  // namespace detail

/// Adam: g = grad + weight_decay w;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
/// w -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps), where t counts the parameter's updates from 1. The
/// results equal those of torch.optim.Adam with foreach=False, in float bit for bit and in double to 1e-15. Source:
/// Kingma and Ba 2015.
/// Errors: settings below 0 or not finite, betas outside [0, 1); those of Optimizer.
class Adam : public detail::AdamBase {
 public:
  explicit Adam(ParameterGroups groups, const AdamOptions& options = {})
      : AdamBase("Adam", {by_adam(std::move(groups))}, options, false) {}
  template <class P, class O = AdamOptions>
  requires detail::NotGroups<P, O, AdamOptions>
  __attribute__((
      unavailable("write Adam(all_parameters(model), {.lr = 1e-3}), or Adam({w, b}, {.lr = 1e-3}) of "
                  "Parameters"))) explicit Adam(const P&, const O& = {});
};

/// Takes one step of AdamW, written as its formula, for weights w with the gradient g. t is the number of the step,
/// counted from 1. m and v are the running means, which are zeros before the first step. The class AdamW computes the
/// same up to rounding, in one pass over memory.
inline void plain_adamw_step(Array& w, const Array& g, Array& m, Array& v, Integer t, const AdamWOptions& o) {
  const auto [beta1, beta2] = o.betas;
  w = w * (1 - o.lr * o.weight_decay);
  m = m * beta1 + g * (1 - beta1);      // the running mean of the gradient
  v = v * beta2 + g * g * (1 - beta2);  // the running mean of the squared gradient
  const Array mean = m / (1 - math::pow(beta1, static_cast<double>(Index(t))));
  const Array size = map(kernels::table().sqrt, v / (1 - math::pow(beta2, static_cast<double>(Index(t)))));
  w = w - mean / (size + o.eps) * o.lr;
}

/// Adam with decoupled weight decay: first w *= 1 - lr weight_decay, then Adam's step without decay. Only the gradient
/// enters m and v, so weights with large gradients decay at the same rate as others. It equals torch.optim.AdamW to the
/// same precision as Adam equals torch.optim.Adam. Source: Loshchilov and Hutter 2019. Errors: those of Adam.
class AdamW : public detail::AdamBase {
 public:
  explicit AdamW(ParameterGroups groups, const AdamWOptions& options = {})
      : AdamBase("AdamW", {by_adam(std::move(groups))}, {options.lr, options.betas, options.eps, options.weight_decay},
                 true) {}
  template <class P, class O = AdamWOptions>
  requires detail::NotGroups<P, O, AdamWOptions>
  __attribute__((
      unavailable("write AdamW(all_parameters(model), {.lr = 1e-3}), or AdamW({w, b}, {.lr = 1e-3}) of "
                  "Parameters"))) explicit AdamW(const P&, const O& = {});
};

}  // namespace mote
