// Lines through points, such as the losses of a training and of its evaluations, as an SVG picture.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace mote {

struct ChartLine {
  std::string name;
  std::vector<std::pair<double, double>> points;  ///< in the order of x
  bool dots = false;                              ///< also a dot for each point, whose tooltip has its numbers
  bool dashed = false;
};

struct Chart {
  std::string title, x_label = "step";
  std::vector<ChartLine> lines;
  bool log = false;                           ///< a logarithmic axis of y, on which what is not above 0 is left out
  bool log_x = false;                         ///< the same for x
  std::optional<double> low = {}, high = {};  ///< ends of the axis of y; not given: those of the points
  std::optional<double> mark = {};            ///< a dashed line at this height, such as the loss of guessing
  std::string mark_label = {};
};

/// An SVG element of 480 x 300 units that fills the width it has, with colours for light and dark
/// (prefers-color-scheme). Alone it is a file. A line is interrupted where a point is not finite; of more than 1000
/// points it shows the means of 1000 equal shares.
std::string chart_svg(const Chart& chart);
/// Several of them in one file, side by side.
std::string charts_svg(const std::vector<Chart>& charts);

namespace detail {
/// The CSS of charts. A page has it once. chart_element() does not contain it.
extern const char* const chart_style;
std::string chart_element(const Chart& chart);
/// What lies inside the element, of 480 x 300 units.
std::string chart_content(const Chart& chart);
/// The path of a line from the top of the plot to its axis at this x.
std::string chart_upright(const Chart& chart, double x);
}  // namespace detail

}  // namespace mote
