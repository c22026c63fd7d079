// Adam and AdamW, which divide each element's step by the running size of its gradient.
#pragma once

#include <array>

#include "engine/base/math.h"
#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "train/optim/optimizer.h"

namespace mote {

/// PyTorch's names and defaults.
struct AdamOptions {
  double lr = 1e-3;
  /// Decay, per step, of the running mean of the gradient and of its square.
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;        ///< added to the denominator: avoids 0 / 0 where the gradient is 0
  double weight_decay = 0;  ///< for groups without one of their own
};
struct AdamWOptions {
  double lr = 1e-3;
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.01;
};

namespace detail {
/// What Adam and AdamW share: all except how weights decay. Muon updates what is no matrix as AdamW does.
class AdamBase : public Optimizer {
 protected:
  AdamBase(OpName name, std::vector<Rule> rules, const AdamOptions& options, bool decoupled)
      : Optimizer(name, std::move(rules), options.lr, options.weight_decay), options_(options), decoupled_(decoupled) {
    check_setting("eps", options.eps);
    for (const double beta : options.betas)
      check_in(name, beta >= 0 && beta < 1, "betas must be in [0, 1), not ", options.betas[0], " and ",
               options.betas[1]);
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
  Index corrected_steps_ = 0;  // what the two corrections are for: mostly all parameters have had as many updates
  double correction1_ = 0, correction2_ = 0;
};
}  // namespace detail

/// g = grad + weight_decay w;  m = beta1 m + (1 - beta1) g;  v = beta2 v + (1 - beta2) g^2;
/// w -= lr (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + eps), t counting this parameter's updates from 1.
/// Equal to torch.optim.Adam (one tensor at a time) bit for bit in float, to 1e-15 in double. Source: Kingma and Ba
/// 2015.
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

/// A step of AdamW as its formula reads, for weights w with the gradient g: the t-th, from 1. m and v start as zeros.
/// What AdamW does is the same up to rounding, in one pass over memory.
inline void plain_adamw_step(Array& w, const Array& g, Array& m, Array& v, Integer t, const AdamWOptions& o) {
  const auto [beta1, beta2] = o.betas;
  w = w * (1 - o.lr * o.weight_decay);
  m = m * beta1 + g * (1 - beta1);      // the running mean of the gradient
  v = v * beta2 + g * g * (1 - beta2);  // and of its square
  const Array mean = m / (1 - math::pow(beta1, static_cast<double>(Index(t))));
  const Array size = map(kernels::table().sqrt, v / (1 - math::pow(beta2, static_cast<double>(Index(t)))));
  w = w - mean / (size + o.eps) * o.lr;
}

/// Adam with decoupled decay: first w *= 1 - lr weight_decay; only the gradient enters m and v, so that weights with
/// large gradients decay as much as others. Equal to torch.optim.AdamW as Adam is to torch.optim.Adam. Source:
/// Loshchilov and Hutter 2019. Errors: as Adam.
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
