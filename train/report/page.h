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

/// Weights [T, T] of a causal head as text, a letter for each key from the first to the query, query by query: A for a
/// weight of 0 or none, B to Z, a to z, 0 to 9, - and _ for one of 1, in 63 equal steps. Errors: another shape.
std::string attention_levels(const Array& weights);

struct Report {
  std::string title = {}, description = {};
  std::vector<std::pair<std::string, std::string>> facts =
      {};  ///< what matters most: a few words, and what they are of
  std::vector<Chart> charts = {};
  std::vector<ReportTable> tables = {};
  std::vector<std::string> tokens = {};  ///< those that `heads` look at
  std::vector<HeadsThen> heads = {};     ///< in the order of steps, all of the same layers and heads
  std::vector<ReportTable> settings = {};
  std::vector<std::pair<std::string, std::string>> texts = {};  ///< titles, and text in a font of equal widths
};

/// A page that needs nothing but itself: no network, no other file. Light and dark as its reader's system; down to 400
/// pixels wide. Texts may hold anything: HTML shows as it is written, control characters as their pictures, bytes that
/// are no UTF-8 as U+FFFD. Of very many pictures of heads it keeps the first, the last, and equally spaced ones between
/// them, about 600 kB. Errors: heads that do not fit the tokens.
std::string report_html(const Report& report);

}  // namespace mote
