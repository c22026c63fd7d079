// about.json and heads.svg, which give a report the facts of a run that its logs and settings do not have.
#pragma once

#include <optional>
#include <string>

#include "train/optim/optimizer.h"
#include "train/run/data.h"
#include "train/run/evaluation.h"

namespace mote {

/// The text of a run's about.json: its data, its model and, once the run has ended, its results.
std::string about_json(const Data& data, const Module& model, const Optimizer& optimizer, const Evaluator& evaluator,
                       const std::optional<RunEnding>& ending);
/// A picture (SVG) of the heads of the last self-attention layer, over the last 32 positions of the example. "" if
/// there is no such layer.
std::string heads_svg(const RunEnding& ending, const Data& data);

}  // namespace mote
