// The HTML page of a report, section by section.
#include "train/report/page.h"

#include <algorithm>

#include "engine/base/check.h"
#include "engine/io/text/json.h"
#include "engine/io/text/utf8.h"
#include "engine/io/text/utf8_stream.h"
#include "nn/head_pictures.h"
#include "train/report/page_parts.h"

namespace mote {
namespace {

std::string html(const std::string& text) { return markup_text(text, "\n\t"); }

std::string table_html(const ReportTable& table) {
  std::string out = "<div class=\"scroll\"><table>\n";
  const auto row = [&out](const std::vector<std::string>& cells, const std::string& tag) {
    out += "<tr>";
    for (const std::string& cell : cells) out += "<" + tag + ">" + html(cell) + "</" + tag + ">";
    out += "</tr>\n";
  };
  if (!table.columns.empty()) row(table.columns, "th");
  for (const std::vector<std::string>& cells : table.rows) row(cells, "td");
  return out + "</table></div>\n";
}

/// A token as a label of up to 12 characters, with visible signs for a token that is a space and for control
/// characters.
std::string label_of(const std::string& token) {
  if (token == " ") return "␣";
  std::string out;
  std::size_t characters = 0;
  const std::string text = readable_text(token, "");
  for (std::size_t i = 0; i < text.size(); ++characters) {
    if (characters == 12) return out + "…";
    const std::size_t length = detail::character_at(text, i).first;
    out += text.substr(i, length);
    i += length;
  }
  return out;
}

/// Selects as many of `heads` as fit into the page. The selected ones are equally spaced, and include the first and
/// the last.
std::vector<HeadsThen> selected(const std::vector<HeadsThen>& heads) {
  std::size_t letters = 1;
  for (const auto& layer : heads.front().layers)
    for (const std::string& head : layer) letters += head.size() + 3;
  const std::size_t most = std::clamp<std::size_t>(600'000 / letters, 2, 60);
  if (heads.size() <= most) return heads;
  std::vector<HeadsThen> some;
  for (std::size_t i = 0; i < most; ++i) some.push_back(heads[i * (heads.size() - 1) / (most - 1)]);
  return some;
}

/// JSON for a <script> element. Every '<' is escaped, so that no text can end the element or open a comment.
std::string script_json(const Json& value) {
  std::string out;
  for (const char c : text_of(value)) out += c == '<' ? std::string("\\u003c") : std::string(1, c);
  return out;
}

std::string heads_html(const Report& report) {
  const std::vector<HeadsThen> some = selected(report.heads);
  Json tokens = Json::array(), colours = Json::array(), moments = Json::array();
  for (const std::string& token : report.tokens) tokens.push_back(label_of(token));
  for (int level = 0; level < 64; ++level) colours.push_back(detail::viridis((level * 64 + 31) / 63));
  for (const HeadsThen& then : some) {
    check_in("report", then.layers.size() == some.front().layers.size(),
             "all steps must have the heads of equally many layers, but step ", some.front().step, " has ",
             some.front().layers.size(), " and step ", then.step, " has ", then.layers.size());
    Json layers = Json::array();
    for (std::size_t layer = 0; layer < then.layers.size(); ++layer) {
      check_in("report", then.layers[layer].size() == some.front().layers[layer].size(), "layer ", layer,
               " must have equally many heads at all steps, but step ", some.front().step, " has ",
               some.front().layers[layer].size(), " and step ", then.step, " has ", then.layers[layer].size());
      Json heads = Json::array();
      for (const std::string& head : then.layers[layer]) heads.push_back(head);
      layers.push_back(std::move(heads));
    }
    moments.push_back(Json::object({{"step", then.step}, {"layers", std::move(layers)}}));
  }
  return "<section>\n<h2>What each head looks at</h2>\n"
         "<p class=\"quiet\">One held-out example. A row is a query, a column a key, a colour the weight from 0 <span "
         "class=\"scale\" style=\"background:linear-gradient(90deg,#440154,#3b518b,#21908d,#5cc863,#fde725)\"></span> "
         "to "
         "1. Point at a cell to read it.</p>\n"
         "<div class=\"bar\"><button type=\"button\" id=\"heads-play\">Play</button><input type=\"range\" "
         "id=\"heads-step\" min=\"0\" value=\"0\" aria-label=\"steps trained\"><output "
         "id=\"heads-now\"></output></div>\n"
         "<p class=\"said\" id=\"heads-said\">&nbsp;</p>\n<div id=\"heads\"></div>\n"
         "<noscript>These pictures need JavaScript.</noscript>\n<script type=\"application/json\" id=\"heads-data\">" +
         script_json(Json::object(
             {{"tokens", std::move(tokens)}, {"colours", std::move(colours)}, {"heads", std::move(moments)}})) +
         "</script>\n<script>" + detail::report_script + "</script>\n</section>\n";
}

}  // namespace

std::string report_html(const Report& report) {
  std::string page =
      "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" "
      "content=\"width=device-width, initial-scale=1\">\n<meta http-equiv=\"Content-Security-Policy\" "
      "content=\"default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n<title>" +
      html(report.title) + "</title>\n<style>" + detail::report_style + detail::chart_style +
      "</style>\n</head>\n<body>\n<main>\n<h1>" + html(report.title) + "</h1>\n<p class=\"quiet\">" +
      html(report.description) + "</p>\n";
  if (!report.facts.empty()) {
    page += "<dl class=\"facts\">\n";
    for (const auto& [what, value] : report.facts)
      page += "<div><dt>" + html(what) + "</dt><dd>" + html(value) + "</dd></div>\n";
    page += "</dl>\n";
  }
  if (!report.charts.empty()) {
    page += "<section class=\"charts\">\n";
    for (const Chart& chart : report.charts) page += detail::chart_element(chart);
    page += "</section>\n";
  }
  for (const ReportTable& table : report.tables)
    page += "<section>\n<h2>" + html(table.title) + "</h2>\n" + table_html(table) + "</section>\n";
  if (!report.heads.empty()) page += heads_html(report);
  if (!report.settings.empty()) {
    page += "<section>\n<h2>Settings</h2>\n<div class=\"settings\">\n";
    for (const ReportTable& table : report.settings)
      page += "<div><h3>" + html(table.title) + "</h3>\n" + table_html(table) + "</div>\n";
    page += "</div>\n</section>\n";
  }
  for (const auto& [title, text] : report.texts)
    page += "<section>\n<details open><summary>" + html(title) + "</summary>\n<pre>" + html(text) +
            "</pre></details>\n</section>\n";
  return page + "</main>\n</body>\n</html>\n";
}

}  // namespace mote
