// report_html, which makes an HTML page about a training from plain data, without the model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/array/array.h"
#include "train/report/chart.h"

namespace mote {

/// A table of a report page, with its title.
struct ReportTable {
  std::string title;
  std::vector<std::string> columns = {};  ///< no header row if empty
  std::vector<std::vector<std::string>> rows = {};
};

/// The attention weights of all heads of a model after `step` steps: the text of attention_levels() for each head of
/// each layer.
struct HeadsThen {
  Index step = 0;
  std::vector<std::vector<std::string>> layers = {};
};

/// What a report page shows.
struct Report {
  std::string title = {}, description = {};
  std::vector<std::pair<std::string, std::string>> facts = {};  ///< the main results, each a name and a value
  std::vector<Chart> charts = {};
  std::vector<ReportTable> tables = {};
  std::vector<std::string> tokens = {};  ///< a label for each query or key; unused where a head has more or fewer
  std::vector<HeadsThen> heads = {};     ///< in the order of steps, each with the same layers and heads
  std::vector<ReportTable> settings = {};
  std::vector<std::pair<std::string, std::string>> texts = {};  ///< title and text, in a monospaced font
};

/// The report as one HTML page, which needs no network and no other file. The page follows the light or dark mode of
/// the reader's system, and fits screens from 400 pixels on. Texts may contain anything: HTML is shown as it is
/// written, control characters as their Unicode pictures, and bytes that are not UTF-8 as U+FFFD. If there are very
/// many pictures of heads, the page keeps the first, the last, and equally spaced ones between them, so that these
/// take about 600 kB. Errors: the number of layers or heads changes from step to step.
std::string report_html(const Report& report);

}  // namespace mote
