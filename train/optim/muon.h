// Muon, which updates matrices by their orthogonalized momentum, and everything else as AdamW does.
#pragma once

#include "train/optim/adamw.h"

namespace mote {

/// The options of Muon, with PyTorch's names and defaults. betas and eps are for the parameters that Muon updates as
/// AdamW does.
struct MuonOptions {
  double lr = 1e-3;
  double momentum = 0.95;  ///< the fraction that a step keeps of the running mean of a matrix's gradient
  Index ns_steps = 5;      ///< Newton-Schulz iterations
  std::array<double, 2> betas = {0.9, 0.999};
  double eps = 1e-8;
  double weight_decay = 0.1;  ///< for parameter groups that do not set their own
};

/// The two kinds of parameter groups of Muon.
struct MuonGroups {
  std::vector<ParameterGroup> matrices;  ///< updated by orthogonalized momentum
  std::vector<ParameterGroup> others;    ///< updated as AdamW does
};

/// Sorts a model's parameters into groups for Muon, in visit order. As Muon's authors advise, the embeddings, the
/// learned positions, the head (the last matrix, and any parameter tied to it) and all parameters that are not matrices
/// are updated as AdamW does. All other matrices are hidden layers and are orthogonalized. Parameters with fewer than
/// two axes have no weight decay. An embedding table that is neither an Embedding nor LearnedPositions counts as a
/// hidden layer. For a model with such a table, list the groups yourself.
MuonGroups muon_groups(const Module& module, Real weight_decay);

/// Muon, an optimizer that orthogonalizes the momentum m of matrices. Its step for a matrix W [r, c] with gradient g is
///
///     m += (1 - momentum) (g - m)
///     u = g + momentum (m - g)                                Nesterov momentum
///     X = u / max(|u|, 1e-7)
///     X = (3.4445 I - 4.7750 A + 2.0315 A A) X                ns_steps times, with A = X X^T
///     W -= lr (0.2 sqrt(max(r, c)) X + weight_decay W)
///
/// |u| is the Frobenius norm. The iteration brings all singular values of X to about 1 and keeps the singular vectors.
/// The factor 0.2 sqrt(max(r, c)) makes the step about as large as a step of AdamW, so one learning rate serves all
/// parameters. Begin with AdamW's best learning rate. Muon's best is up to twice as large.
///
/// In Muon's step all singular directions of a matrix are about equally large, whereas a few directions dominate a step
/// of AdamW. train/optim/which_optimizer.md compares the results. Sources: Jordan et al. 2024
/// (kellerjordan.github.io/posts/muon), and for the factor Liu et al. 2025 (Moonlight). The formulas are those of
/// torch.optim.Muon with adjust_lr_fn="match_rms_adamw", but torch iterates in bfloat16. Errors: settings below 0 or
/// not finite, a momentum or betas outside [0, 1), ns_steps below 1, a parameter among the matrices that is not a
/// matrix; those of Optimizer.
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
