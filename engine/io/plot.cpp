// Where points lie, and the SVG that shows them.
#include "engine/io/plot.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/base/math.h"
#include "engine/base/number_text.h"
#include "engine/io/ticks.h"
#include "engine/io/xml.h"

namespace mote {
namespace {

using Points = std::vector<std::pair<double, double>>;

constexpr double left = 60, top = 64, size = 240, gap = 30, bottom = 56;

bool shown(double x) { return std::isfinite(x) && x > 0; }
bool shown(const std::pair<double, double>& p) { return shown(p.first) && shown(p.second); }

/// From the smallest value to 0 and from the largest to 1, by their logarithms.
struct Range {
  double low = std::numeric_limits<double>::infinity(), high = 0;
  void include(double x) { low = std::min(low, x), high = std::max(high, x); }
  double place(double x) const { return high > low ? math::log(x / low) / math::log(high / low) : 0.5; }
};

std::string number(double x) { return fixed_text(x, 1); }

std::string text(double x, double y, const char* anchor, const std::string& what, int font = 11) {
  return std::string("<text x=\"") + number(x) + "\" y=\"" + number(y) + "\" text-anchor=\"" + anchor +
         "\" font-size=\"" + std::to_string(font) + "\">" + detail::xml_text(what) + "</text>\n";
}
std::string line(double x, double y, const std::string& to) {
  return std::string("<path d=\"M") + number(x) + " " + number(y) + to + "\" stroke=\"#dddddd\"/>\n";
}

std::string polyline(const Points& points, const Range& xs, const Range& ys, double origin, const char* style) {
  std::string path;
  for (const auto& p : points)
    if (shown(p))
      path.append(path.empty() ? "M" : "L")
          .append(number(origin + size * xs.place(p.first)))
          .append(" ")
          .append(number(top + size * (1 - ys.place(p.second))));
  return path.empty() ? ""
                      : std::string("<path d=\"").append(path).append("\" fill=\"none\" ").append(style).append("/>\n");
}

}  // namespace

std::string plot_svg(const std::string& title, const std::string& y_label, const std::vector<PlotPanel>& panels) {
  Range ys;
  for (const PlotPanel& panel : panels)
    for (const Points* points : {&panel.points, &panel.compared})
      for (const auto& p : *points)
        if (shown(p)) ys.include(p.second);
  const double width = left + static_cast<double>(panels.size()) * (size + gap);
  std::string svg = "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" + number(width) + "\" height=\"" +
                    number(top + size + bottom) +
                    "\" font-family=\"monospace\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n" +
                    text(10, 22, "start", title, 16);
  svg += text(10, 42, "start", y_label);
  const bool empty = !(ys.high > 0);
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const PlotPanel& panel = panels[i];
    const double origin = left + static_cast<double>(i) * (size + gap);
    Range xs;
    for (const auto& p : panel.points)
      if (shown(p)) xs.include(p.first);
    if (!empty)
      for (const double y : detail::log_ticks(ys.low, ys.high)) {
        const double height = top + size * (1 - ys.place(y));
        svg += line(origin, height, std::string("h").append(number(size)));
        if (i == 0) svg += text(left - 6, height + 4, "end", general_text(y, 6));
      }
    double last = -100;
    for (const auto& p : panel.points) {
      if (!shown(p)) continue;
      const double x = origin + size * xs.place(p.first);
      svg += line(x, top, std::string("v").append(number(size)));
      const std::string label = general_text(p.first, 6);
      if (x - last < 4 + 7 * static_cast<double>(label.size())) continue;  // it would touch the one before
      svg += text(x, top + size + 16, "middle", label);
      last = x;
    }
    svg += text(origin + size / 2, top - 6, "middle", panel.title);
    svg += text(origin + size / 2, top + size + 36, "middle", panel.x_label);
    svg += polyline(panel.compared, xs, ys, origin, "stroke=\"#c06040\" stroke-dasharray=\"4 3\"");
    svg += polyline(panel.points, xs, ys, origin, "stroke=\"#3b518b\" stroke-width=\"1.5\"");
    for (const auto& p : panel.points)
      if (shown(p))
        svg += std::string("<circle cx=\"") + number(origin + size * xs.place(p.first)) + "\" cy=\"" +
               number(top + size * (1 - ys.place(p.second))) + "\" r=\"2.5\" fill=\"#3b518b\"/>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace mote
