// The animation has one frame for each evaluation that it shows. One frame is visible at a time.
#include "train/report/learning.h"

#include <algorithm>
#include <array>
#include <span>

#include "engine/base/check.h"
#include "engine/base/number_text.h"
#include "nn/head_pictures.h"

namespace mote {
namespace {

constexpr int chart_width = 480, above = 62, gap = 8, beside = 64;
constexpr double seconds_each = 0.6, seconds_of_last = 2.4;

/// The weights of a head, read from the text of attention_levels(): a level from 0 to 63 for each key of each query.
struct Levels {
  int queries = 0, keys = 0;
  std::vector<std::vector<int>> rows;

  explicit Levels(const std::string& text) {
    const std::size_t colon = text.find(':');
    check(colon != text.npos && colon > 0 && colon < 7 && text.find_first_not_of("0123456789") == colon,
          "the weights of a head are damaged: they must begin with the number of keys and a colon, such as 20:");
    keys = std::stoi(text.substr(0, colon));
    rows.emplace_back();
    for (const char c : text.substr(colon + 1)) {
      if (c == ' ') {
        rows.emplace_back();
      } else {
        rows.back().push_back(level_of(c));
        check(static_cast<int>(rows.back().size()) <= keys, "the weights of a head are damaged: a row has ",
              rows.back().size(), " weights, but the number of keys is ", keys);
      }
    }
    queries = static_cast<int>(rows.size());
  }

 private:
  static int level_of(char c) {
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    check(c == '-' || c == '_', "the weights of a head are damaged: '", c, "' is the letter of no weight");
    return c == '-' ? 62 : 63;
  }
};

/// A head as a square of `side` units. The background has the colour of weight 0. Other weights have one of 16
/// colours, and neighbouring cells of one colour are drawn as one line.
std::string head_element(const Levels& head, int x, int y, int side) {
  constexpr int steps = 16;
  std::array<std::string, steps + 1> paths;
  for (std::size_t i = 0; i < head.rows.size(); ++i) {
    const std::vector<int>& row = head.rows[i];
    const auto step_of = [&](std::size_t j) { return (row[j] * steps + 31) / 63; };
    for (std::size_t j = 0, end = 0; j < row.size(); j = end) {
      for (end = j + 1; end < row.size() && step_of(end) == step_of(j);) ++end;
      paths[static_cast<std::size_t>(step_of(j))] +=
          "M" + std::to_string(j) + " " + std::to_string(i) + "h" + std::to_string(end - j);
    }
  }
  std::string svg = "<g transform=\"translate(" + std::to_string(x) + " " + std::to_string(y) + ")scale(" +
                    general_text(double(side) / head.keys, 5) + " " + general_text(double(side) / head.queries, 5) +
                    ")\"><rect width=\"" + std::to_string(head.keys) + "\" height=\"" + std::to_string(head.queries) +
                    "\" fill=\"" + detail::viridis(0) + "\"/><g transform=\"translate(0 .5)\">";
  for (int step = 1; step <= steps; ++step)
    if (const std::string& path = paths[static_cast<std::size_t>(step)]; !path.empty())
      svg += "<path stroke=\"" + detail::viridis(step * 64 / steps) + "\" d=\"" + path + "\"/>";
  return svg + "</g></g>\n";
}

/// The SVG element that shows a frame from `from` to `to`, two fractions of the `seconds` that the animation takes.
std::string visible(double from, double to, double seconds) {
  const std::string start = general_text(from, 4), end = general_text(to, 4);
  std::string values, times;
  if (from <= 0) {
    values = "visible;hidden";
    times = "0;" + end;
  } else if (to >= 1) {
    values = "hidden;visible";
    times = "0;" + start;
  } else {
    values = "hidden;visible;hidden";
    times = "0;" + start + ";" + end;
  }
  return "<animate attributeName=\"visibility\" calcMode=\"discrete\" repeatCount=\"indefinite\" dur=\"" +
         general_text(seconds, 4) + "s\" values=\"" + values + "\" keyTimes=\"" + times + "\"/>\n";
}

std::string text_element(int x, int y, const std::string& how, const std::string& text) {
  return "<text x=\"" + std::to_string(x) + "\" y=\"" + std::to_string(y) + "\"" + how + ">" + text + "</text>\n";
}

/// Selects up to `most` of the evaluations that have heads. The selected ones are equally spaced, and include the
/// first and the last.
std::vector<const EvaluationReport*> chosen(const std::vector<EvaluationReport>& evaluations, std::size_t most) {
  std::vector<const EvaluationReport*> all, some;
  for (const EvaluationReport& e : evaluations)
    if (!e.heads.empty() && (all.empty() || e.heads.size() == all[0]->heads.size())) all.push_back(&e);
  if (all.size() <= most) return all;
  for (std::size_t i = 0; i < most; ++i) some.push_back(all[i * (all.size() - 1) / (most - 1)]);
  return some;
}

}  // namespace

std::string learning_svg(const Chart& loss, const std::vector<EvaluationReport>& evaluations) {
  const std::vector<const EvaluationReport*> frames = chosen(evaluations, 12);
  if (frames.size() < 2) return "";
  const auto layers = static_cast<int>(frames[0]->heads.size());
  std::size_t widest = 1;
  for (const EvaluationReport* frame : frames)
    for (const std::vector<std::string>& layer : frame->heads) widest = std::max(widest, layer.size());
  const int heads = static_cast<int>(widest), side = std::clamp(960 / heads, 48, 120);
  const int width = chart_width + beside + heads * (side + gap), height = std::max(300, above + layers * (side + gap));
  const double seconds = seconds_each * static_cast<double>(frames.size() - 1) + seconds_of_last;

  std::string svg = "<svg class=\"chart\" xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + std::to_string(width) +
                    " " + std::to_string(height) + "\" role=\"img\">\n<style>\n" + detail::chart_style +
                    ".heads{shape-rendering:crispEdges}\n.heads path{stroke-linecap:butt}\n" +
                    "svg{background:#fff}\n@media(prefers-color-scheme:dark){svg{background:#14191f}}\n</style>\n" +
                    detail::chart_content(loss);
  for (int head = 0; head < heads; ++head)
    svg += text_element(chart_width + beside + head * (side + gap), above - 8, "", "head " + std::to_string(head));
  for (int layer = 0; layer < layers; ++layer)
    svg += text_element(chart_width + 4, above + layer * (side + gap) + side / 2, "", "layer " + std::to_string(layer));

  for (std::size_t f = 0; f < frames.size(); ++f) {
    const EvaluationReport& frame = *frames[f];
    const bool last = f + 1 == frames.size();
    const double from = seconds_each * static_cast<double>(f) / seconds;
    svg += "<g visibility=\"" + std::string(last ? "visible" : "hidden") + "\">\n" +
           visible(from, last ? 1 : from + seconds_each / seconds, seconds) +
           text_element(chart_width + beside, 24, " class=\"heading\"",
                        "after " + std::to_string(frame.step) + " steps: held-out loss " + fixed_text(frame.loss, 3)) +
           "<path class=\"mark\" d=\"" + detail::chart_upright(loss, static_cast<double>(frame.step)) +
           "\"/>\n<g class=\"heads\">\n";
    for (std::size_t layer = 0; layer < frame.heads.size(); ++layer)
      for (std::size_t head = 0; head < frame.heads[layer].size(); ++head)
        svg +=
            head_element(Levels(frame.heads[layer][head]), chart_width + beside + static_cast<int>(head) * (side + gap),
                         above + static_cast<int>(layer) * (side + gap), side);
    svg += "</g>\n</g>\n";
  }
  return svg + "</svg>\n";
}

}  // namespace mote
