// What is here: head_scores, attention_svg.
// What is not: other kinds of pictures; text heatmaps are in ../examples/heatmap.h.
// Read next: ../examples/attention_maps.cpp.
#include "models/inspect.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <sstream>

#include "engine/check.h"
#include "engine/math.h"

namespace mote {
namespace {

struct Mean {
  double sum = 0;
  Index count = 0;
  void add(double x) { sum += x, ++count; }
  double value() const { return count > 0 ? sum / static_cast<double>(count) : 0; }
};

/// The colour map viridis at nine evenly spaced points, between which colours are mixed. Source: S. van der Walt and
/// N. Smith's map of matplotlib.
std::string viridis(double x) {
  static constexpr std::array<std::array<int, 3>, 9> points{{{68, 1, 84},
                                                             {71, 44, 122},
                                                             {59, 81, 139},
                                                             {44, 113, 142},
                                                             {33, 144, 141},
                                                             {39, 173, 129},
                                                             {92, 200, 99},
                                                             {170, 220, 50},
                                                             {253, 231, 37}}};
  const double place = std::clamp(std::isnan(x) ? 0.0 : x, 0.0, 1.0) * 8;
  const std::size_t left = std::min<std::size_t>(7, static_cast<std::size_t>(place));
  const double share = place - static_cast<double>(left);
  char text[8];
  int rgb[3];
  for (std::size_t c = 0; c < 3; ++c)
    rgb[c] = static_cast<int>(std::lround(points[left][c] * (1 - share) + points[left + 1][c] * share));
  std::snprintf(text, sizeof text, "#%02x%02x%02x", static_cast<unsigned>(rgb[0]) & 255u,
                static_cast<unsigned>(rgb[1]) & 255u, static_cast<unsigned>(rgb[2]) & 255u);
  return text;
}

/// Text as XML has it; what no XML may contain becomes '?'.
std::string escaped(const std::string& text) {
  std::string out;
  for (const char c : text) {
    const unsigned char byte = static_cast<unsigned char>(c);
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (byte < 32)
      out += c == '\n' ? "\\n" : c == '\t' ? "\\t" : "?";
    else
      out += c;
  }
  return out;
}

}  // namespace

std::vector<HeadScore> head_scores(const Array& weights, const Tokens& ids) {
  const Array all = weights.rank() == 3 ? weights.unsqueeze(0) : weights;
  check_in("head_scores", all.rank() == 4 && all.shape()[2] == all.shape()[3], "weights ", weights.shape(),
           " must be [H, T, T] or [B, H, T, T]");
  const Index B = all.shape()[0], H = all.shape()[1], T = all.shape()[2];
  check_in("head_scores", ids.numel() == B * T, "ids ", ids.shape(), " do not fit weights ", weights.shape());
  const Array w = all.contiguous();
  std::vector<HeadScore> scores;
  for (Index h = 0; h < H; ++h) {
    Mean previous, first, induction, entropy;
    for (Index b = 0; b < B; ++b) {
      const Index* const id = ids.data() + b * T;
      for (Index t = 1; t < T; ++t) {
        const real* const row = w.data() + ((b * H + h) * T + t) * T;
        previous.add(static_cast<double>(row[t - 1]));
        first.add(static_cast<double>(row[0]));
        double following = 0, spread = 0;
        bool seen = false;
        for (Index j = 0; j <= t; ++j) {
          const double p = static_cast<double>(row[j]);
          if (p > 0) spread -= p * math::log(p);
          if (j > 0 && id[j - 1] == id[t] && j - 1 < t) following += p, seen = true;
        }
        if (seen) induction.add(following);
        entropy.add(spread / math::log(static_cast<double>(t + 1)));
      }
    }
    scores.push_back({previous.value(), first.value(), induction.value(), entropy.value()});
  }
  return scores;
}

std::string describe(const std::vector<HeadScore>& scores) {
  std::string text = "head  previous  first  induction  entropy\n";
  for (std::size_t h = 0; h < scores.size(); ++h) {
    const HeadScore& s = scores[h];
    const double most = std::max({s.previous, s.first, s.induction});
    const char* kind = most < 0.5            ? (s.entropy > 0.9 ? "nearly uniform" : "")
                       : most == s.previous  ? "previous token"
                       : most == s.induction ? "induction"
                                             : "first token";
    char line[96];
    std::snprintf(line, sizeof line, "%4d  %8.2f  %5.2f  %9.2f  %7.2f  %s", static_cast<int>(h + 1), s.previous,
                  s.first, s.induction, s.entropy, kind);
    text += line;
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  return text;
}

std::string attention_svg(const Array& weights, const std::vector<std::string>& queries,
                          const std::vector<std::string>& keys, const std::string& title) {
  check_in("attention_svg", weights.rank() == 3, "weights ", weights.shape(), " must be [H, Tq, Tk]");
  const Index H = weights.shape()[0], Tq = weights.shape()[1], Tk = weights.shape()[2];
  check_in("attention_svg", static_cast<Index>(queries.size()) == Tq && static_cast<Index>(keys.size()) == Tk,
           queries.size(), " and ", keys.size(), " labels do not fit weights ", weights.shape());
  const Array w = weights.contiguous();
  const auto longest = [](const std::vector<std::string>& labels) {
    std::size_t n = 1;
    for (const std::string& label : labels) n = std::max(n, label.size());
    return static_cast<Index>(std::min<std::size_t>(n, 16));
  };
  const Index cell = std::clamp<Index>(240 / std::max<Index>(1, std::max(Tq, Tk)), 6, 24);
  const Index left = 14 + 6 * longest(queries), below = 14 + 6 * longest(keys), above = 24, gap = 16;
  const Index wide = left + Tk * cell + gap, high = above + Tq * cell + below;
  const Index across = std::min<Index>(4, std::max<Index>(1, H)), down = (H + across - 1) / across;
  const Index scale_width = 60, top = 40;
  std::ostringstream svg;
  svg.imbue(std::locale::classic());
  svg << "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"" << across * wide + scale_width << "\" height=\""
      << top + down * high << "\" font-family=\"monospace\" font-size=\"" << std::clamp<Index>(cell, 6, 10)
      << "\">\n<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n<text x=\"" << (across * wide) / 2
      << "\" y=\"26\" font-size=\"18\" text-anchor=\"middle\">" << escaped(title) << "</text>\n";
  for (Index h = 0; h < H; ++h) {
    svg << "<g transform=\"translate(" << h % across * wide + left << "," << top + h / across * high + above
        << ")\">\n<text x=\"" << Tk * cell / 2 << "\" y=\"-8\" font-size=\"13\" text-anchor=\"middle\">Head " << h + 1
        << "</text>\n";
    for (Index i = 0; i < Tq; ++i)
      for (Index j = 0; j < Tk; ++j) {
        const double p = static_cast<double>(w.data()[(h * Tq + i) * Tk + j]);
        svg << "<rect x=\"" << j * cell << "\" y=\"" << i * cell << "\" width=\"" << cell << "\" height=\"" << cell
            << "\" fill=\"" << viridis(p) << "\"/>\n";
      }
    for (Index i = 0; i < Tq; ++i)
      svg << "<text x=\"-4\" y=\"" << i * cell + cell / 2 << "\" text-anchor=\"end\" dominant-baseline=\"middle\">"
          << escaped(queries[static_cast<std::size_t>(i)]) << "</text>\n";
    for (Index j = 0; j < Tk; ++j)
      svg << "<text transform=\"translate(" << j * cell + cell / 2 << "," << Tq * cell + 4
          << ") rotate(-90)\" text-anchor=\"end\" dominant-baseline=\"middle\">"
          << escaped(keys[static_cast<std::size_t>(j)]) << "</text>\n";
    svg << "</g>\n";
  }
  // The colours' scale, from 1 at its top to 0.
  svg << "<g transform=\"translate(" << across * wide + 8 << "," << top + above << ")\">\n";
  for (int i = 0; i < 50; ++i)
    svg << "<rect x=\"0\" y=\"" << i * 3 << "\" width=\"12\" height=\"3\" fill=\"" << viridis(1 - i / 49.0) << "\"/>\n";
  svg << "<text x=\"16\" y=\"8\">1.0</text>\n<text x=\"16\" y=\"79\">0.5</text>\n<text x=\"16\" y=\"150\">0.0</text>\n"
      << "</g>\n</svg>\n";
  return svg.str();
}

}  // namespace mote
