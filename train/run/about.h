// What a report says of a run that its logs and its settings do not have.
#pragma once

#include <optional>
#include <string>

#include "train/optim/optimizer.h"
#include "train/run/data.h"
#include "train/run/evaluation.h"

namespace mote {

/// A run's about.json: its data and its model, and, once it has come to its end, what came of it.
std::string about_json(const Data& data, const Module& model, const Optimizer& optimizer, const Evaluator& evaluator,
                       const std::optional<RunEnding>& ending);
/// The heads of the last layer that attends to its own positions, over the last positions of the example, as SVG; "" if
/// there is none.
std::string heads_svg(const RunEnding& ending, const Data& data);

}  // namespace mote
