// The optimizers that recipes and the command line know by name. A new optimizer needs a header of its own, and three
// lines in this file.
#pragma once

#include <memory>

#include "engine/base/words.h"
#include "train/optim/adamw.h"
#include "train/optim/muon.h"
#include "train/optim/sgd.h"

namespace mote {

/// The optimizers that a recipe can name.
enum class OptimizerKind { adamw, adam, sgd, muon };
constexpr auto words(OptimizerKind) {
  return std::to_array<Word<OptimizerKind>>({{OptimizerKind::adamw, "adamw"},
                                             {OptimizerKind::adam, "adam"},
                                             {OptimizerKind::sgd, "sgd"},
                                             {OptimizerKind::muon, "muon"}});
}

/// Makes an optimizer for all parameters of a module. AdamW gets decay_groups(), Muon gets muon_groups(), and the
/// others get all_parameters(). Errors: those of the optimizer.
inline std::unique_ptr<Optimizer> make_optimizer(OptimizerKind kind, const Module& module, const AdamWOptions& o) {
  const double decay = o.weight_decay;
  if (kind == OptimizerKind::adamw) return std::make_unique<AdamW>(decay_groups(module, decay), o);
  if (kind == OptimizerKind::muon)
    return std::make_unique<Muon>(muon_groups(module, decay), MuonOptions{.lr = o.lr, .betas = o.betas});
  if (kind == OptimizerKind::sgd) return std::make_unique<SGD>(all_parameters(module, decay), SGDOptions{.lr = o.lr});
  return std::make_unique<Adam>(all_parameters(module, decay), AdamOptions{.lr = o.lr, .betas = o.betas});
}

}  // namespace mote
