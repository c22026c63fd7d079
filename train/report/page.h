// A report of a training as one HTML page, made from plain data: it knows no model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/array/array.h"
#include "train/report/chart.h"

namespace mote {

struct ReportTable {
  std::string title;
  std::vector<std::string> columns = {};  ///< no heads if empty
  std::vector<std::vector<std::string>> rows = {};
};

/// What all heads of a model attended to after so many steps: for each layer, for each head, attention_levels().
struct HeadsThen {
  Index step = 0;
  std::vector<std::vector<std::string>> layers = {};
};

struct Report {
  std::string title = {}, description = {};
  std::vector<std::pair<std::string, std::string>> facts =
      {};  ///< what matters most: a few words, and what they are of
  std::vector<Chart> charts = {};
  std::vector<ReportTable> tables = {};
  std::vector<std::string> tokens = {};  ///< labels of queries and of keys, where there are as many
  std::vector<HeadsThen> heads = {};     ///< in the order of steps, all of the same layers and heads
  std::vector<ReportTable> settings = {};
  std::vector<std::pair<std::string, std::string>> texts = {};  ///< titles, and text in a font of equal widths
};

/// A page that needs nothing but itself: no network, no other file. Light and dark as its reader's system; down to 400
/// pixels wide. Texts may hold anything: HTML shows as it is written, control characters as their pictures, bytes that
/// are no UTF-8 as U+FFFD. Of very many pictures of heads it keeps the first, the last, and equally spaced ones between
/// them, about 600 kB. Errors: heads that change from step to step.
std::string report_html(const Report& report);

}  // namespace mote
