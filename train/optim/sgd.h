// SGD, gradient descent with momentum, Nesterov's variant and weight decay.
#pragma once

#include <cmath>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "train/optim/optimizer.h"

namespace mote {

/// The options of SGD, with PyTorch's names and defaults. Older versions of PyTorch had no default lr.
struct SGDOptions {
  double lr = 1e-3;
  double momentum = 0;      ///< the fraction of the velocity kept in each step, usually 0.9; 0: no velocity
  double dampening = 0;     ///< the fraction of each new gradient that is left out of the velocity
  double weight_decay = 0;  ///< for parameter groups that do not set their own
  bool nesterov = false;    ///< Nesterov momentum
};

/// SGD: g = grad + weight_decay w;  velocity = momentum velocity + (1 - dampening) g, or g in the first update; w -= lr
/// (nesterov ? g + momentum velocity : velocity). The results equal those of torch.optim.SGD bit for bit. Errors:
/// settings below 0 or not finite (dampening may be below 0); nesterov without momentum or with dampening; those of
/// Optimizer.
class SGD : public Optimizer {
 public:
  explicit SGD(ParameterGroups groups, const SGDOptions& options = {})
      : Optimizer("SGD", std::move(groups), options.lr, options.weight_decay,
                  options.momentum > 0 ? std::vector<std::string>{"momentum_buffer"} : std::vector<std::string>{}),
        options_(options) {
    check_setting("momentum", options.momentum);
    check_in("SGD", std::isfinite(options.dampening), "dampening ", options.dampening, " must be finite");
    check_in("SGD", !options.nesterov || (options.momentum > 0 && options.dampening == 0),
             "nesterov needs a momentum above 0 and no dampening; momentum is ", options.momentum, " and dampening ",
             options.dampening);
  }
  template <class P, class O = SGDOptions>
  requires detail::NotGroups<P, O, SGDOptions>
  __attribute__((
      unavailable("write SGD(all_parameters(model), {.lr = 1e-3}), or SGD({w, b}, {.lr = 1e-3}) of "
                  "Parameters"))) explicit SGD(const P&, const O& = {});

 protected:
  bool prepare(Slot& slot) override { return prepare_in_place(slot), true; }
  void update(Slot& slot, double lr) override {
    const bool moving = !slot.arrays.empty(), first = moving && slot.steps == 1;
    const kernels::VelocityDescent s{static_cast<real>(lr),
                                     static_cast<real>(slot.weight_decay),
                                     static_cast<real>(options_.momentum),
                                     static_cast<real>(1 - options_.dampening),
                                     options_.nesterov,
                                     first};
    real* const w = slot.parameter.mutate();
    real* const velocity = moving ? slot.arrays[0].mutate() : nullptr;
    const real* const g = slot.parameter.grad().data();
    parallel_for(slot.parameter.numel(), grain_for(0.3), [&](Index lo, Index hi) {
      kernels::table().descend_by_velocity(s, w + lo, g + lo, velocity ? velocity + lo : nullptr, hi - lo);
    });
  }

 private:
  SGDOptions options_;
};

}  // namespace mote
