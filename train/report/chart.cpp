// Draws the points of a chart as lines, with axes and a legend.
#include "train/report/chart.h"

#include <algorithm>
#include <cmath>

#include "engine/base/number_text.h"
#include "engine/io/text/utf8_stream.h"
#include "train/report/axis.h"

namespace mote {
namespace {

using detail::Point;

constexpr int page_width = 480;
constexpr double left = 58, right = 468, plot_top = 50, plot_bottom = 258;  // in a picture 300 high
constexpr std::size_t colours = 4, most_points = 1000;

std::string coordinate(double x) { return fixed_text(x, 1); }

/// A command of an SVG path with its end point: "M12.0 34.0".
std::string go(char command, double x, double y) {
  std::string text(1, command);
  return text.append(coordinate(x)).append(" ").append(coordinate(y));
}

class Drawing {
 public:
  explicit Drawing(const Chart& chart) : chart_(chart) {
    x_.log = chart.log_x;
    y_.log = chart.log;
    for (const ChartLine& line : chart.lines) {
      lines_.push_back(detail::means_of_shares(line.points, most_points));
      for (const Point& p : lines_.back())
        if (x_.shows(p.first) && y_.shows(p.second)) {
          x_.include(p.first);
          y_.include(p.second);
        }
    }
    if (chart.mark && !y_.empty()) y_.include(*chart.mark);
    if (chart.low) y_.low = *chart.low;
    if (chart.high) y_.high = *chart.high;
    if (!x_.log && !x_.empty() && x_.low > 0 && x_.low <= 0.1 * x_.high) x_.low = 0;
  }

  /// The SVG elements of the chart.
  std::string content() {
    svg_ = "<title>" + markup_text(chart_.title) + "</title>\n";
    text(8, 20, "class=\"heading\"", chart_.title);
    axes();
    for (std::size_t i = 0; i < lines_.size(); ++i) draw(lines_[i], chart_.lines[i], i % colours);
    legend();
    return svg_;
  }
  std::string upright(double x) const {
    const double low = x_.empty() ? 0 : x_.low, high = x_.empty() ? 0 : x_.high;
    return go('M', across(std::clamp(x, low, high)), plot_top) + "v" + coordinate(plot_bottom - plot_top);
  }

 private:
  double across(double x) const { return left + (right - left) * x_.place(x); }
  double down(double y) const { return plot_bottom - (plot_bottom - plot_top) * y_.place(y); }

  void text(double x, double y, const std::string& how, const std::string& what) {
    svg_ +=
        "<text x=\"" + coordinate(x) + "\" y=\"" + coordinate(y) + "\" " + how + ">" + markup_text(what) + "</text>\n";
  }
  void path(const std::string& d, const std::string& style) {
    svg_ += "<path class=\"" + style + "\" d=\"" + d + "\"/>\n";
  }
  void axes() {
    const std::string wide = "h410.0";
    if (!x_.empty() && !y_.empty()) {
      const std::vector<double> heights = y_.ticks(), places = x_.ticks();
      const std::vector<std::string> beside = detail::tick_labels(heights, 4), below = detail::tick_labels(places, 7);
      for (std::size_t i = 0; i < heights.size(); ++i) {
        path(go('M', left, down(heights[i])) + wide, "grid");
        text(left - 6, down(heights[i]) + 4.5, "text-anchor=\"end\"", beside[i]);
      }
      double last = -page_width;
      for (std::size_t i = 0; i < places.size(); ++i) {
        const double x = across(places[i]), half = 4 * static_cast<double>(below[i].size());
        if (x - half < last) continue;
        text(std::min(x, page_width - half - 2), plot_bottom + 18, "text-anchor=\"middle\"", below[i]);
        last = x + half + 8;
      }
      if (chart_.mark && !std::isnan(y_.place(*chart_.mark))) {
        const double y = down(*chart_.mark);
        path(go('M', left, y) + wide, "mark");
        text(right - 4, y < plot_top + 20 ? y + 15 : y - 5, "text-anchor=\"end\"", chart_.mark_label);
      }
    }
    path(go('M', left, plot_bottom) + wide, "axis");
    text((left + right) / 2, plot_bottom + 35, "text-anchor=\"middle\"", chart_.x_label);
  }
  void draw(const std::vector<Point>& points, const ChartLine& line, std::size_t colour) {
    std::string d, dots;
    bool drawing = false;
    const std::string number = std::to_string(colour);
    for (const auto& [x, y] : points) {
      const bool shown = !std::isnan(x_.place(x)) && !std::isnan(y_.place(y));
      if (shown) {
        const double height = std::clamp(down(y), plot_top - 8, plot_bottom + 8);
        d += go(drawing ? 'L' : 'M', across(x), height);
        if (!drawing) d += "h0";  // a line of no length, so that a single point is visible
        if (line.dots)
          dots += "<path class=\"dot c" + number + "\" d=\"" + go('M', across(x), height) + "h0\"><title>" +
                  markup_text(line.name) + " " + general_text(y, 5) + ", " + markup_text(chart_.x_label) + " " +
                  general_text(x, 7) + "</title></path>\n";
      }
      drawing = shown;
    }
    if (!d.empty()) path(d, (line.dashed ? "dashed line c" : "line c") + number);
    if (points.size() <= 200) svg_ += dots;
  }
  void legend() {
    if (lines_.size() < 2) return;
    double x = 10;
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      path(go('M', x, 35) + "h18",
           std::string(chart_.lines[i].dashed ? "dashed line c" : "line c").append(std::to_string(i % colours)));
      text(x + 23, 39, "", chart_.lines[i].name);
      // 8 units per letter are wide enough, also for the larger letters of a narrow page.
      x += 42 + 8 * static_cast<double>(chart_.lines[i].name.size());
    }
  }

  const Chart& chart_;
  detail::ChartAxis x_, y_;
  std::vector<std::vector<Point>> lines_;
  std::string svg_;
};

std::string opening(std::size_t charts) {
  return "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " +
         std::to_string(page_width * charts) + " 300\" role=\"img\">\n";
}

}  // namespace

const char* const detail::chart_style =
    ".chart{width:100%;font:13px system-ui,sans-serif}\n"
    ".chart text{fill:#1c2733}.chart .heading{font-weight:600;font-size:15px}\n"
    ".chart path{fill:none;stroke-linecap:round;stroke-linejoin:round}\n"
    ".chart .grid{stroke:#dfe4ea}.chart .axis,.chart .mark{stroke:#1c2733}\n"
    ".chart .mark{stroke-dasharray:5 4;opacity:.6}\n"
    ".chart .line{stroke-width:1.8}.chart .dashed{stroke-dasharray:5 4}.chart .dot{stroke-width:6}\n"
    ".chart .c0{stroke:#2458c5}.chart .c1{stroke:#c2410c}.chart .c2{stroke:#15803d}.chart .c3{stroke:#7c3aed}\n"
    "@media(max-width:560px){.chart{font-size:14.5px}.chart .heading{font-size:17px}}\n"
    "@media(prefers-color-scheme:dark){.chart text{fill:#e4e9ef}.chart .grid{stroke:#39434e}\n"
    ".chart .axis,.chart .mark{stroke:#e4e9ef}.chart .c0{stroke:#7faaff}.chart .c1{stroke:#ff9d5c}\n"
    ".chart .c2{stroke:#5dd39e}.chart .c3{stroke:#c4a1ff}}\n";

std::string detail::chart_element(const Chart& chart) { return opening(1) + Drawing(chart).content() + "</svg>\n"; }

std::string detail::chart_content(const Chart& chart) { return Drawing(chart).content(); }

std::string detail::chart_upright(const Chart& chart, double x) { return Drawing(chart).upright(x); }

std::string charts_svg(const std::vector<Chart>& charts) {
  std::string svg = opening(charts.size()) + "<style>\n" + detail::chart_style +
                    "svg{background:#fff;max-width:" + std::to_string(2 * page_width * charts.size()) +
                    "px}\n@media(prefers-color-scheme:dark){svg{background:#14191f}}\n</style>\n";
  for (std::size_t i = 0; i < charts.size(); ++i)
    svg.append("<g transform=\"translate(")
        .append(std::to_string(page_width * i))
        .append(" 0)\">\n")
        .append(Drawing(charts[i]).content())
        .append("</g>\n");
  return svg + "</svg>\n";
}

std::string chart_svg(const Chart& chart) { return charts_svg({chart}); }

}  // namespace mote
