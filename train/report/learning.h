// learning_svg, a picture that moves: what every head attends to while a model learns.
#pragma once

#include <string>
#include <vector>

#include "train/report/chart.h"
#include "train/run/log.h"

namespace mote {

/// The chart of losses, and beside it all heads of all layers after each of up to twelve evaluations, one after the
/// other, again and again: an SVG that moves by itself (SMIL). A row of a head is a query, a column a key, a colour the
/// weight, in viridis. Colours are for light and dark. A viewer that does not move shows the last evaluation.
/// Returns nothing if fewer than two evaluations have heads. Errors: heads that are not attention_levels().
std::string learning_svg(const Chart& loss, const std::vector<EvaluationReport>& evaluations);

}  // namespace mote
