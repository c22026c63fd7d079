// Lines through measured points on logarithmic axes, as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mote {

/// One square of a plot: points (x, y), connected in the order given, and perhaps a second, dashed line to compare with.
struct PlotPanel {
  std::string title, x_label;
  std::vector<std::pair<double, double>> points;
  std::vector<std::pair<double, double>> compared = {};
};

/// An SVG document with the panels side by side, all with the same logarithmic axis of y. Each panel's axis of x is
/// logarithmic and shows the x of its points. Points that are not finite and above 0 are left out.
std::string plot_svg(const std::string& title, const std::string& y_label, const std::vector<PlotPanel>& panels);

}  // namespace mote
