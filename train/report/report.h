// The report of a run, made from its folder alone.
#pragma once

#include <optional>
#include <string>

#include "train/run/evaluation.h"

namespace mote {

/// What a report says of a run and its logs and settings do not, as JSON: its data and its model, and, once it has come
/// to its end, what came of it. A run keeps it as about.json.
std::string about_json(const Data& data, const Module& model, const Optimizer& optimizer, const Evaluator& evaluator,
                       const std::optional<RunEnding>& ending);
/// The heads of the last layer that attends to its own positions, over the last positions of the example, as SVG; "" if
/// there is none.
std::string heads_svg(const RunEnding& ending, const Data& data);

/// Writes report.html and loss.svg into the folder of a run, which may have been stopped or killed, or train still. No
/// clock is in them: they are the same for a run that was interrupted. Errors: there is no run; a log that somebody has
/// changed.
void write_report(const std::string& folder);

}  // namespace mote
