// learning_svg, an animated picture of what every head attends to while a model learns.
#pragma once

#include <string>
#include <vector>

#include "train/report/chart.h"
#include "train/run/log.h"

namespace mote {

/// An animated SVG (SMIL) that shows the chart of losses and, beside the chart, all heads of all layers. The picture
/// shows up to twelve evaluations one after the other, in an endless loop. Each row of a head is a query, each column
/// is a key, and the colour is the weight, in viridis. The chart has colours for light and dark mode. A viewer without
/// animation shows the last evaluation.
/// Returns "" if fewer than two evaluations have heads. Errors: heads that are not in the format of
/// attention_levels().
std::string learning_svg(const Chart& loss, const std::vector<EvaluationReport>& evaluations);

}  // namespace mote
