// Layout in rows, after Sugiyama. Each box is in the first row below all boxes that point to it. A long arrow has a
// place in every row that it crosses. Row by row, the places are sorted by the mean position of their neighbours
// above or below, and moved towards that mean.
#include "engine/watch/diagram.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <locale>
#include <sstream>

#include "engine/base/check.h"
#include "engine/io/text/utf8_stream.h"

namespace mote {
namespace {

constexpr double letter = 7.2, line = 15, between_rows = 34, between_places = 22;  // pixels

/// A box, or the point where an arrow crosses a row. x and y are its middle.
struct Place {
  double width = 0, height = 0, x = 0, y = 0;
  std::size_t row = 0;
  std::vector<std::size_t> above = {}, below = {};
};

struct DiagramLayout {
  std::vector<Place> places;                      // the boxes, then the crossings
  std::vector<std::vector<std::size_t>> rows;     // the places of each row, from left to right
  std::vector<std::vector<std::size_t>> courses;  // the places of each arrow, from box to box
  double width = 0, height = 0;

  explicit DiagramLayout(const Diagram& diagram) {
    for (const DiagramBox& box : diagram.boxes) {
      std::size_t columns = 0;
      for (const std::string& text : box.lines) columns = std::max(columns, text.size());
      places.push_back({static_cast<double>(columns) * letter + 18, static_cast<double>(box.lines.size()) * line + 10});
    }
    for (const auto& [from, to] : diagram.arrows)
      check_in("diagram_svg", from < to && to < places.size(), "the arrow from box ", from, " to box ", to,
               " must lead to a later one of the boxes");
    for (std::size_t to = 0; to < places.size(); ++to)
      for (const auto& arrow : diagram.arrows)
        if (arrow.second == to) places[to].row = std::max(places[to].row, places[arrow.first].row + 1);
    for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {  // moves a box without inputs down, above its first use
      std::size_t highest = 0;
      for (const auto& [from, to] : diagram.arrows)
        if (from == i) highest = highest ? std::min(highest, places[to].row) : places[to].row;
      if (places[i].row == 0 && highest) places[i].row = highest - 1;
    }
    for (const auto& [from, to] : diagram.arrows) add_course(from, to);
    for (std::size_t i = 0; i < places.size(); ++i) {
      rows.resize(std::max(rows.size(), places[i].row + 1));
      rows[places[i].row].push_back(i);
    }
    for (int sweep = 0; sweep < 12; ++sweep) {
      for (auto row = rows.begin(); row != rows.end(); ++row) arrange(*row, true, sweep > 10);
      for (auto row = rows.rbegin(); row != rows.rend(); ++row) arrange(*row, sweep > 10, true);
    }
    measure();
  }

 private:
  void add_course(std::size_t from, std::size_t to) {
    courses.push_back({from});
    for (std::size_t row = places[from].row + 1; row <= places[to].row; ++row) {
      const std::size_t before = courses.back().back();
      const std::size_t next = row == places[to].row ? to : places.size();
      if (next != to) places.push_back({.row = row});
      places[before].below.push_back(next);
      places[next].above.push_back(before);
      courses.back().push_back(next);
    }
  }
  /// Sorts a row's places by the mean x of their neighbours in the rows above, below or both. Moves each place as near
  /// to this mean as the widths allow.
  void arrange(std::vector<std::size_t>& row, bool by_above, bool by_below) {
    std::vector<std::pair<double, std::size_t>> order;
    for (const std::size_t i : row) {
      double total = 0, count = 0;
      for (const std::size_t other : places[i].above) {
        total += by_above ? places[other].x : 0;
        count += by_above;
      }
      for (const std::size_t other : places[i].below) {
        total += by_below ? places[other].x : 0;
        count += by_below;
      }
      order.emplace_back(count > 0 ? total / count : places[i].x, i);
    }
    std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    const std::size_t n = order.size();
    std::vector<double> right(n), left(n);  // x after pushing overlapping places to the right, and to the left
    const auto apart = [&](std::size_t i) {
      return (places[order[i].second].width + places[order[i + 1].second].width) / 2 + between_places;
    };
    for (std::size_t i = 0; i < n; ++i)
      right[i] = i ? std::max(order[i].first, right[i - 1] + apart(i - 1)) : order[i].first;
    for (std::size_t i = n; i-- > 0;)
      left[i] = i + 1 < n ? std::min(order[i].first, left[i + 1] - apart(i)) : order[i].first;
    for (std::size_t i = 0; i < n; ++i) {
      row[i] = order[i].second;
      places[row[i]].x = (right[i] + left[i]) / 2;
    }
  }
  void measure() {
    double left = std::numeric_limits<double>::infinity();
    for (const Place& p : places) left = std::min(left, p.x - p.width / 2);
    for (const auto& row : rows) {
      double highest = 0;
      for (const std::size_t i : row) highest = std::max(highest, places[i].height);
      for (const std::size_t i : row) {
        Place& p = places[i];
        p.x = std::round(p.x - left);
        p.y = height + highest / 2;
        if (p.height == 0) p.height = highest;
        width = std::max(width, p.x + p.width / 2);
      }
      height += highest + between_rows;
    }
  }
};

/// Draws an arrow through the places of `course`. The arrow ends at x = `end`.
void draw_arrow(std::ostream& svg, const DiagramLayout& layout, const std::vector<std::size_t>& course, double end) {
  for (std::size_t i = 0; i < course.size(); ++i) {
    const Place& p = layout.places[course[i]];
    const double x = i + 1 < course.size() ? p.x : end, top = p.y - p.height / 2, bottom = p.y + p.height / 2;
    if (i == 0) {
      svg << "<path d=\"M" << x << " " << bottom;
      continue;
    }
    const Place& before = layout.places[course[i - 1]];
    const double bend = (before.y + before.height / 2 + top) / 2;
    svg << "C" << before.x << " " << bend << " " << x << " " << bend << " " << x << " " << top;
    if (i + 1 < course.size()) svg << "V" << bottom;
  }
  svg << "\" marker-end=\"url(#head)\"/>\n";
}

}  // namespace

std::string diagram_svg(const Diagram& diagram) {
  const DiagramLayout layout(diagram);
  const double top = 20 + static_cast<double>(diagram.notes.size()) * line;
  std::ostringstream svg;
  svg.imbue(std::locale::classic());
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"diagram\" width=\""
      << std::ceil(std::max(layout.width + 40, 560.0)) << "\" height=\"" << std::ceil(top + layout.height)
      << "\" font-family=\"monospace\" font-size=\"12\">\n"
      << "<style>.diagram text{white-space:pre}@media(prefers-color-scheme:dark){.diagram .page{fill:#181e25}"
      << ".diagram .ink{fill:#e4e9ef}}</style>\n<marker id=\"head\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
      << "markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"ink\" d=\"M0 0L8 4L0 8z\"/></marker>\n"
      << "<rect class=\"page\" width=\"100%\" height=\"100%\" fill=\"white\"/>\n";
  for (std::size_t i = 0; i < diagram.notes.size(); ++i)
    svg << "<text class=\"ink\" x=\"20\" y=\"" << 22 + static_cast<double>(i) * line << "\">"
        << markup_text(diagram.notes[i]) << "</text>\n";
  svg << "<g transform=\"translate(20," << top << ")\" fill=\"none\" stroke=\"#888888\">\n";
  for (const auto& course : layout.courses) {  // arrows to one box end side by side, in the order of their origins
    const Place& end = layout.places[course.back()];
    const auto comes_from = [&](const auto& c) { return std::pair(layout.places[c[c.size() - 2]].x, &c); };
    double before = 0, count = 0;
    for (const auto& other : layout.courses)
      if (other.back() == course.back()) {
        ++count;
        before += comes_from(other) < comes_from(course);
      }
    draw_arrow(svg, layout, course, end.x + (before - (count - 1) / 2) * std::min(16.0, end.width / (count + 1)));
  }
  svg << "</g>\n<g transform=\"translate(20," << top << ")\" text-anchor=\"middle\">\n";
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
    const Place& p = layout.places[i];
    const double left = p.x - p.width / 2, above = p.y - p.height / 2;
    svg << "<rect x=\"" << left << "\" y=\"" << above << "\" width=\"" << p.width << "\" height=\"" << p.height
        << "\" rx=\"5\" fill=\"" << diagram.boxes[i].colour << "\" stroke=\"#888888\"/>\n";
    for (std::size_t k = 0; k < diagram.boxes[i].lines.size(); ++k)
      svg << "<text x=\"" << p.x << "\" y=\"" << above + 17 + static_cast<double>(k) * line
          << (k == 0 ? "\" font-weight=\"bold\">" : "\">") << markup_text(diagram.boxes[i].lines[k]) << "</text>\n";
  }
  return svg.str() + "</g>\n</svg>\n";
}

std::string diagram_dot(const Diagram& diagram) {
  std::string dot = "digraph {\n  node [shape=box style=\"rounded,filled\"]\n";
  for (std::size_t i = 0; i < diagram.boxes.size(); ++i) {
    std::string label;
    for (const std::string& text : diagram.boxes[i].lines) {
      for (const char c : (label.empty() ? "" : "\n") + text)
        label += c == '\n' ? std::string("\\n") : (c == '"' || c == '\\' ? "\\" : "") + std::string(1, c);
    }
    dot += "  n" + std::to_string(i) + " [fillcolor=\"" + diagram.boxes[i].colour + "\" label=\"" +
           readable_text(label) + "\"]\n";
  }
  for (const auto& [from, to] : diagram.arrows)
    dot += "  n" + std::to_string(from) + " -> n" + std::to_string(to) + "\n";
  return dot + "}\n";
}

}  // namespace mote
