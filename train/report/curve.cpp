// Draws a sequence of numbers as a curve of '*'.
#include "train/report/curve.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/base/check.h"
#include "train/report/axis.h"

namespace mote {
namespace {

std::string right_aligned(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text;
}

}  // namespace

std::string curve_text(std::span<const double> values, const CurveOptions& options) {
  check_in("curve_text", options.width >= 1, "width ", options.width, " must be at least 1");
  check_in("curve_text", options.height >= 2, "height ", options.height, " must be at least 2");
  std::vector<detail::Point> columns;
  for (std::size_t i = 0; i < values.size(); ++i) columns.emplace_back(static_cast<double>(i + 1), values[i]);
  columns = detail::means_of_shares(columns, static_cast<std::size_t>(options.width));
  detail::ChartAxis axis{.log = options.log};
  for (const auto& [x, mean] : columns) axis.include(mean);
  std::vector<double> ends;
  if (!axis.empty()) ends = {axis.low, axis.high};
  const std::vector<std::string> labels = detail::tick_labels(ends, 4);
  const std::string bottom = labels.empty() ? "" : labels[0], top = labels.empty() ? "" : labels[1];
  const std::size_t label = std::max(top.size(), bottom.size());
  std::vector<std::string> rows(static_cast<std::size_t>(options.height), std::string(columns.size(), ' '));
  for (std::size_t c = 0; c < columns.size(); ++c)
    if (const double h = axis.place(columns[c].second); !std::isnan(h))
      rows[static_cast<std::size_t>(std::lround((1 - h) * (options.height - 1)))][c] = '*';
  std::string text = options.title.empty() ? "" : options.title + "\n";
  for (std::size_t r = 0; r < rows.size(); ++r) {
    text += right_aligned(r == 0 ? top : r + 1 == rows.size() ? bottom : "", label) + " |" + rows[r];
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  const std::string last = std::to_string(values.size());
  text +=
      std::string(label + 1, ' ') + "+" + std::string(columns.size(), '-') + "\n" + std::string(label + 2, ' ') + "1";
  if (values.size() > 1) text += right_aligned(last, std::max(columns.size() - 1, last.size() + 1));
  return text + "\n";
}

}  // namespace mote
