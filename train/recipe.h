// Recipe, settings known to learn a task, as plain data; the optimizer and the schedule they name.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/fields.h"
#include "train/fit.h"

namespace mote {

/// Fields of a config by name, as text: what set_field() takes.
using FieldValues = std::vector<std::pair<std::string, std::string>>;

enum class OptimizerKind { adamw, adam, sgd };
constexpr auto words(OptimizerKind) {
  return std::to_array<Word<OptimizerKind>>(
      {{OptimizerKind::adamw, "adamw"}, {OptimizerKind::adam, "adam"}, {OptimizerKind::sgd, "sgd"}});
}

enum class ScheduleKind {
  cosine,   ///< after the warm-up decays to a tenth of learning_rate
  constant  ///< after the warm-up stays at learning_rate
};
constexpr auto words(ScheduleKind) {
  return std::to_array<Word<ScheduleKind>>({{ScheduleKind::cosine, "cosine"}, {ScheduleKind::constant, "constant"}});
}

/// What to train and how. The model is given by name, since train/ knows no models.
struct Recipe {
  std::string model = "gpt";                                                   ///< which kind
  FieldValues config = {{"n_layer", "2"}, {"n_head", "4"}, {"n_embd", "64"}};  ///< fields of its config
  Index data_seed = 1;  ///< the batches come from a stream seeded with the run's seed plus this

  OptimizerKind optimizer = OptimizerKind::adamw;
  ScheduleKind schedule = ScheduleKind::cosine;
  Index steps = 600, batch_size = 64;
  double learning_rate = 1e-3;
  Index warmup = 50;
  double weight_decay = 0.1, clip = 1;

  template <class V>
  void visit(V& v) {
    v("optimizer", optimizer, "what steps the weights");
    v("schedule", schedule, "the learning rate after the warm-up: down to a tenth, or always the same");
    v("steps", steps, "training steps");
    v("batch_size", batch_size, "sequences per step");
    v("learning_rate", learning_rate, "its peak");
    v("warmup", warmup, "steps in which the learning rate rises to its peak");
    v("weight_decay", weight_decay, "how much weights decay; with adamw matrices only");
    v("clip", clip, "largest gradient norm; 0: no clipping");
  }
};

/// The optimizer a recipe names, for all parameters of a module: AdamW with decay_groups(), the others with
/// all_parameters(). Errors: those of the optimizer.
std::unique_ptr<Optimizer> make_optimizer(const Recipe& recipe, const Module& module);

/// Steps, clipping and schedule of a recipe. A warm-up longer than the training ends with it.
/// Errors: steps or warmup below 0, a batch_size below 1.
FitOptions fit_options(const Recipe& recipe);

}  // namespace mote
