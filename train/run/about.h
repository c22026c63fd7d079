// The texts of about.json and heads.svg. A report needs these two files, because they contain facts about a run that
// are not in the run's logs or settings.
#pragma once

#include <optional>
#include <string>

#include "train/optim/optimizer.h"
#include "train/run/data.h"
#include "train/run/evaluation.h"

namespace mote {

/// Returns the text of a run's about.json, which describes the data, the model and, once the run has ended, the
/// results.
std::string about_json(const Data& data, const Module& model, const Optimizer& optimizer, const Evaluator& evaluator,
                       const std::optional<RunEnding>& ending);
/// Returns an SVG picture of the attention weights of all heads in the last self-attention layer, for the last 32
/// positions of the held-out example in `ending`. Returns "" if the model has no self-attention layer.
std::string heads_svg(const RunEnding& ending, const Data& data);

}  // namespace mote
