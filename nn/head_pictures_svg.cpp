// attention_svg: all heads of a layer in one picture.
#include <algorithm>
#include <array>
#include <cmath>
#include <locale>
#include <sstream>

#include "engine/base/check.h"
#include "engine/io/text/utf8.h"
#include "engine/io/text/utf8_stream.h"
#include "nn/head_pictures.h"

namespace mote {

std::string detail::viridis(int level) {
  static constexpr int colours[] = {0x440154, 0x472c7a, 0x3b518b, 0x2c718e, 0x21908d,
                                    0x27ad81, 0x5cc863, 0xaadc32, 0xfde725};
  const int left = level < 64 ? level / 8 : 7, share = level - 8 * left;
  std::string text = "#";
  for (int shift = 16; shift >= 0; shift -= 8) {
    const int from = colours[left] >> shift & 255, to = colours[left + 1] >> shift & 255;
    text += hex_text(static_cast<unsigned>((from * (8 - share) + to * share + 4) / 8), 2);
  }
  return text;
}
namespace {

/// Weights are shown in steps of 1/64, which is finer than the eye can see. So all cells of one colour can share one
/// SVG path.
constexpr Index levels = 64;

Index level_of(double weight) {
  return std::isnan(weight)
             ? 0
             : static_cast<Index>(std::lround(std::clamp(weight, 0.0, 1.0) * static_cast<double>(levels)));
}

std::string colour(Index level) { return detail::viridis(static_cast<int>(level)); }

/// Text escaped for XML, and its width in columns of a monospace font.
struct Label {
  std::string xml;
  Index columns = 0;
};

/// The label for a text, cut to at most `longest` characters.
Label label(const std::string& text, Index longest) {
  const std::string whole = readable_text(text, "");
  std::string shown;
  Index count = 0, columns = 0;
  for (std::size_t i = 0; i < whole.size(); ++count) {
    const auto [length, code] = detail::character_at(whole, i);
    if (count == longest - 1 && i + length < whole.size()) return {markup_text(shown) + "…", columns + 1};
    shown.append(whole, i, length);
    columns += code >= 0x2e80 && code != 0xfffd ? 2 : 1;  // wide characters start at 0x2e80: Chinese, emoji, ...
    i += length;
  }
  return {markup_text(shown), columns};
}

/// The names along one axis.
struct Axis {
  std::vector<Label> labels;
  Index columns = 1;  ///< of the widest label
  explicit Axis(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      labels.push_back(label(name, 16));
      columns = std::max(columns, labels.back().columns);
    }
  }
};

void check_labels(const Shape& weights, std::size_t queries, std::size_t keys, std::size_t heads) {
  check_in("attention_svg", weights.rank() == 3, "weights ", weights, " must be [H, Tq, Tk]");
  check_in("attention_svg", static_cast<Index>(queries) == weights[1], "weights ", weights, " have ", weights[1],
           " queries, but labels of queries: ", queries);
  check_in("attention_svg", static_cast<Index>(keys) == weights[2], "weights ", weights, " have ", weights[2],
           " keys, but labels of keys: ", keys);
  check_in("attention_svg", heads == 0 || static_cast<Index>(heads) == weights[0], "weights ", weights, " have ",
           weights[0], " heads, but names of heads: ", heads);
}

/// Draws a head's weights [Tq, Tk], each as a square of size 1, over a background of the lowest colour.
void draw_weights(std::ostream& svg, const real* weights, Index Tq, Index Tk) {
  svg << "<rect width=\"" << Tk << "\" height=\"" << Tq << "\" fill=\"" << colour(0) << "\"/>\n";
  std::array<std::string, levels + 1> paths;  // an SVG path of all cells of each level; level 0 is the background
  for (Index i = 0; i < Tq; ++i)
    for (Index j = 0, end = 0; j < Tk; j = end) {
      const real* const row = weights + i * Tk;
      const Index level = level_of(static_cast<double>(row[j]));
      for (end = j + 1; end < Tk && level_of(static_cast<double>(row[end])) == level;) ++end;
      const std::string run = std::to_string(end - j);
      std::string& path = paths[static_cast<std::size_t>(level)];
      path.append("M").append(std::to_string(j)).append(" ").append(std::to_string(i));
      path.append("h").append(run).append("v1h-").append(run).append("z");
    }
  for (Index level = 1; level <= levels; ++level)
    if (const std::string& path = paths[static_cast<std::size_t>(level)]; !path.empty())
      svg << "<path fill=\"" << colour(level) << "\" d=\"" << path << "\"/>\n";
}

/// Defines the scale of colours as a gradient with the id "viridis". draw_scale draws the scale as a bar with its
/// numbers.
void define_scale(std::ostream& svg) {
  svg << "<linearGradient id=\"viridis\" x1=\"0\" x2=\"0\" y1=\"1\" y2=\"0\">";
  for (Index i = 0; i <= 8; ++i)
    svg << "<stop offset=\"" << static_cast<double>(i) / 8 << "\" stop-color=\"" << colour(i * levels / 8) << "\"/>";
  svg << "</linearGradient>\n";
}
void draw_scale(std::ostream& svg) {
  svg << "<rect width=\"10\" height=\"150\" fill=\"url(#viridis)\"/>\n<text x=\"14\" y=\"8\">1.0</text>\n"
      << "<text x=\"14\" y=\"79\">0.5</text>\n<text x=\"14\" y=\"150\">0.0</text>\n";
}

}  // namespace

std::string attention_svg(const Array& weights, const std::vector<std::string>& queries,
                          const std::vector<std::string>& keys, const std::string& title,
                          const std::vector<std::string>& heads) {
  check_labels(weights.shape(), queries.size(), keys.size(), heads.size());
  const Array w = weights.contiguous();
  const Index H = w.shape()[0], Tq = w.shape()[1], Tk = w.shape()[2];
  const Axis rows(queries), columns(keys);
  const Label heading = label(title, 120);
  // Sizes are in pixels. A monospace character is 0.6 font sizes wide, and its baseline is 0.35 font sizes below its
  // middle.
  const Index cell = std::clamp<Index>(400 / std::max<Index>(1, std::max(Tq, Tk)), 1, 24);
  const Index font = std::clamp<Index>(cell, 7, 12), foot = (cell * 10 + font * 7) / 20;
  const Index every = (font + cell - 1) / cell;  // labels only every few cells if cells are smaller than letters
  const Index left = 10 + rows.columns * font * 3 / 5, below = 24 + columns.columns * font * 3 / 5, above = 24;
  const Index wide = left + std::max<Index>(Tk * cell, 60) + 14, high = above + Tq * cell + below, top = 48;
  const Index across = std::clamp<Index>(H, 1, 4), down = (H + across - 1) / across;
  const Index page = std::max(across * wide + 50, std::max<Index>(heading.columns * 10, 410) + 20);
  std::ostringstream svg;
  svg.imbue(std::locale::classic());
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << page << "\" height=\""
      << top + std::max(down * high, above + 180) << "\" font-family=\"monospace\" font-size=\"" << font << "\">\n";
  define_scale(svg);
  svg << "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
      << "<text x=\"10\" y=\"22\" font-size=\"16\">" << heading.xml << "</text>\n"
      << "<text x=\"10\" y=\"40\" font-size=\"11\" fill=\"#666666\">"
      << "a row is a query, a column a key, a colour the weight</text>\n";
  for (Index h = 0; h < H; ++h) {
    svg << "<g transform=\"translate(" << h % across * wide + left << "," << top + h / across * high + above
        << ")\">\n<text x=\"0\" y=\"-6\" font-size=\"13\">"
        << (heads.empty() ? "Head " + std::to_string(h) : label(heads[static_cast<std::size_t>(h)], 16).xml)
        << "</text>\n"
        << "<g transform=\"scale(" << cell << ")\" shape-rendering=\"crispEdges\">\n";
    draw_weights(svg, w.data() + h * Tq * Tk, Tq, Tk);
    svg << "</g>\n<g text-anchor=\"end\">\n";
    for (Index i = 0; i < Tq; i += every)
      svg << "<text x=\"-4\" y=\"" << i * cell + foot << "\">" << rows.labels[static_cast<std::size_t>(i)].xml
          << "</text>\n";
    for (Index j = 0; j < Tk; j += every)
      svg << "<text transform=\"translate(" << j * cell + foot << " " << Tq * cell + 4 << ")rotate(-90)\">"
          << columns.labels[static_cast<std::size_t>(j)].xml << "</text>\n";
    svg << "</g>\n</g>\n";
  }
  svg << "<g transform=\"translate(" << across * wide + 4 << "," << top + above << ")\">\n";
  draw_scale(svg);
  return svg.str() + "</g>\n</svg>\n";
}

}  // namespace mote
