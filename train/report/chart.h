// Charts as SVG pictures, which show lines through points, such as the training and the held-out loss.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mote {

/// A line of a Chart, with its name and its points.
struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< in the order of x
  bool dots = false;                              ///< also a dot with a tooltip for each point, if there are up to 200
  bool dashed = false;
};

/// A chart of lines over one axis, with the names of both axes.
struct Chart {
  std::string title, x_label = "step";
  std::vector<ChartLine> lines;
  bool log = false;                           ///< a logarithmic y axis, which leaves out values that are not above 0
  bool log_x = false;                         ///< a logarithmic x axis
  std::optional<double> low = {}, high = {};  ///< ends of the y axis; by default those of the points
  std::optional<double> mark = {};            ///< a dashed line at this y, such as the loss of guessing
  std::string mark_label = {};
};

/// A chart as an SVG file of 480 x 300 units. The picture fills the available width, and has colours for light and
/// dark mode (prefers-color-scheme). A line is interrupted where a point is not finite. If a line has more than 1000
/// points, it shows the means of 1000 equal groups of points.
std::string chart_svg(const Chart& chart);
/// Several charts in one SVG file, side by side.
std::string charts_svg(const std::vector<Chart>& charts);

namespace detail {
/// The CSS of charts. A page contains the CSS once, so chart_element() does not.
extern const char* const chart_style;
std::string chart_element(const Chart& chart);
/// The content of the <svg> element of a chart, in 480 x 300 units.
std::string chart_content(const Chart& chart);
/// The SVG path of a vertical line at `x`, from the top of the plot down to the x axis.
std::string chart_upright(const Chart& chart, double x);
}  // namespace detail

}  // namespace mote
