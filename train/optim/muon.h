// Muon, which steps a matrix by its momentum made orthogonal, and AdamW's step for everything else.
#pragma once

#include "train/optim/adamw.h"

namespace mote {

/// PyTorch's names and defaults; betas and eps are AdamW's, for the parameters that are not orthogonalized.
struct MuonOptions {
  double lr = 1e-3;
  double momentum = 0.95;  ///< decay, per step, of the running mean of a matrix's gradient
  Index ns_steps = 5;      ///< Newton-Schulz iterations
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.1;  ///< for groups without one of their own
};

/// Parameters by how Muon updates them.
struct MuonGroups {
  std::vector<ParameterGroup> matrices;  ///< orthogonalized
  std::vector<ParameterGroup> others;    ///< updated as AdamW does
};

/// The groups of a model, in visit order. To AdamW go, as the authors advise, embeddings and learned positions, the
/// head (the last matrix, and whatever is tied to it), and what is no matrix, which does not decay. All other matrices
/// are hidden layers. A table that is neither an Embedding nor LearnedPositions is taken for a hidden layer: list the
/// groups yourself then.
MuonGroups muon_groups(const Module& module, Real weight_decay);

/// For a matrix W [r, c] with gradient g:
///
///     m += (1 - momentum) (g - m)
///     u = g + momentum (m - g)                                Nesterov's variant
///     X = u / max(|u|, 1e-7)
///     X = (3.4445 I - 4.7750 A + 2.0315 A A) X                ns_steps times, with A = X X^T
///     W -= lr (0.2 sqrt(max(r, c)) X + weight_decay W)
///
/// The iteration takes all singular values to about 1 and keeps their vectors. The factor makes the step as large as
/// one of AdamW. So one learning rate serves all parameters. AdamW's best is where to begin. Muon's own is up to twice
/// that.
///
/// Every row and column of a hidden layer learns at the same speed, where AdamW's step is dominated by few directions;
/// what comes of that: train/optim/which_optimizer.md. Sources: Jordan et al. 2024 (kellerjordan.github.io/posts/muon),
/// and for the factor Liu et al. 2025 (Moonlight). The formulas are those of torch.optim.Muon with
/// adjust_lr_fn="match_rms_adamw", which iterates in bfloat16. Errors: settings below 0 or not finite, a momentum or
/// betas outside [0, 1), ns_steps below 1, a parameter among the matrices that is none; those of Optimizer.
class Muon : public detail::AdamBase {
 public:
  explicit Muon(MuonGroups groups, const MuonOptions& options = {});
  template <class P, class O = MuonOptions>
  requires(!std::convertible_to<P, MuonGroups> || !std::convertible_to<O, MuonOptions>)
      __attribute__((unavailable("write Muon(muon_groups(model, 0.1), {.lr = 1e-3})"))) explicit Muon(const P&,
                                                                                                      const O& = {});

 protected:
  bool prepare(Slot& slot) override;
  void update(Slot& slot, double lr) override;

 private:
  static Rule orthogonalizing(std::vector<ParameterGroup> matrices);

  double momentum_;
  Index ns_steps_;
};

}  // namespace mote
