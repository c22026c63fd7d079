// The contents of a report, in this order: facts, charts, answers, heads, settings.
#include "train/report/report.h"

#include <algorithm>
#include <functional>

#include "engine/base/number_text.h"
#include "engine/io/files/file.h"
#include "engine/io/text/json.h"
#include "train/report/learning.h"
#include "train/report/page.h"
#include "train/run/settings.h"

namespace mote {
namespace {

using StepReports = std::vector<StepReport>;
using Evaluations = std::vector<EvaluationReport>;

/// The texts of a JSON array, which are the cells of one row of a table.
std::vector<std::string> row_from(const JsonPlace& row) {
  std::vector<std::string> cells;
  for (std::size_t i = 0; i < row.items().size(); ++i) cells.push_back(row.at(i).as_string());
  return cells;
}
std::vector<std::vector<std::string>> rows_from(const JsonPlace& rows) {
  std::vector<std::vector<std::string>> all;
  for (std::size_t i = 0; i < rows.items().size(); ++i) all.push_back(row_from(rows.at(i)));
  return all;
}

bool is_null(const JsonPlace& place) { return place.value().is(Json::Kind::null); }

Chart loss_chart(const StepReports& steps, const Evaluations& evaluations, const JsonPlace& about) {
  Chart chart{.title = "loss", .lines = {{"training", {}, false}, {"held out", {}, true}}, .log = true};
  for (const StepReport& r : steps) chart.lines[0].points.emplace_back(r.step + 1, r.loss);
  for (const EvaluationReport& r : evaluations) chart.lines[1].points.emplace_back(r.step, r.loss);
  if (!is_null(about.at("guessing_loss"))) {
    chart.mark = about.at("guessing_loss").as_number();
    chart.mark_label = "guessing";
  }
  return chart;
}

Chart accuracy_chart(const Evaluations& evaluations, const JsonPlace& about) {
  Chart chart{.title = "whole answers that are right", .lines = {}, .low = 0, .high = 1};
  // The training questions come first, so that their line has the colour of the training loss.
  if (about.at("holds_out").as_bool()) chart.lines.push_back({"questions to train on", {}, true});
  chart.lines.push_back({"held out", {}, true});
  for (const EvaluationReport& r : evaluations) {
    if (r.exact_match) chart.lines.back().points.emplace_back(r.step, *r.exact_match);
    if (r.train_exact_match) chart.lines.front().points.emplace_back(r.step, *r.train_exact_match);
  }
  if (const double chance = about.at("chance").as_number(); chance > 0) {
    chart.mark = chance;
    chart.mark_label = "chance";
  }
  return chart;
}

std::vector<Chart> charts(const StepReports& steps, const Evaluations& evaluations, const JsonPlace& about) {
  std::vector<Chart> all{loss_chart(steps, evaluations, about)};
  if (about.at("graded").as_bool()) all.push_back(accuracy_chart(evaluations, about));
  Chart rate{.title = "learning rate", .lines = {{"learning rate", {}}}, .low = 0};
  Chart norm{.title = "norm of the gradient, before clipping", .lines = {{"norm", {}}}, .log = true};
  for (const StepReport& r : steps) {
    rate.lines[0].points.emplace_back(r.step + 1, r.learning_rate);
    norm.lines[0].points.emplace_back(r.step + 1, r.grad_norm);
  }
  all.push_back(std::move(rate));
  all.push_back(std::move(norm));
  return all;
}

ReportTable samples_table(const Evaluations& evaluations, bool graded) {
  ReportTable samples{graded ? "Answers on the way" : "Samples on the way", {"step", "question", "answer", "verdict"}};
  if (!graded) samples.columns = {"step", "beginning", "how the model goes on"};
  constexpr std::size_t most = 40;  // if there are more evaluations, 40 equally spaced ones are shown
  const std::size_t n = evaluations.size(), shown = std::min(n, most);
  for (std::size_t i = 0; i < shown; ++i) {
    const EvaluationReport& r = evaluations[shown < 2 ? 0 : i * (n - 1) / (shown - 1)];
    for (const EvaluationReport::Sample& s : r.samples) {
      samples.rows.push_back({std::to_string(r.step), s.question, s.answer});
      if (graded) samples.rows.back().push_back(s.right && *s.right ? "right" : "wrong");
    }
  }
  return samples;
}

/// Adds tables of the statistics of layers and the changes of weights, for up to eight steps. The rows of one layer
/// stand together.
void add_health(Report& report, StepReports steps) {
  std::erase_if(steps, [](const StepReport& r) { return r.layers.empty(); });
  if (steps.empty()) return;
  const auto add = [&](ReportTable table, const auto& of, const auto& cells) {
    for (std::size_t i = 0; i < of(steps[0]).size(); ++i)
      for (std::size_t n = 0, all = std::min<std::size_t>(steps.size(), 8); n < all; ++n) {
        const StepReport& r = steps[(n + 1) * steps.size() / all - 1];
        if (i >= of(r).size()) continue;
        table.rows.push_back(cells(of(r)[i]));
        table.rows.back().insert(table.rows.back().begin() + 1, std::to_string(r.step + 1));
      }
    report.tables.push_back(std::move(table));
  };
  add({"Layers", {"layer", "step", "mean", "deviation", "zeros", "gradient: mean", "deviation", "zeros"}},
      std::mem_fn(&StepReport::layers), [](const LayerHealth& h) {
        std::vector<std::string> row{h.layer};
        for (const Spread& s : {h.result, h.gradient})
          for (const double x : {s.mean, s.deviation, s.zeros}) row.push_back(general_text(x, 3));
        return row;
      });
  add({"Change of weights", {"parameter", "step", "change / weight"}}, std::mem_fn(&StepReport::updates),
      [](const auto& change) {
        return std::vector{change.first, general_text(change.second, 3)};
      });
}

}  // namespace

void write_report(const std::string& folder) {
  const std::string path = folder + "/about.json";
  check(file_exists(path), "there is no run in ", folder, ": it has no about.json");
  const Json document = parse_json(read_file(path, std::uint64_t{1} << 30), path);
  const JsonPlace about(document, path);
  const StepReports steps = read_steps(folder + "/log.jsonl");
  const Evaluations evaluations = read_evaluations(folder + "/evaluations.jsonl");
  const bool graded = about.at("graded").as_bool(), ended = !is_null(about.at("ending"));

  Report report{.title = "mote: " + about.at("data").as_string(), .description = about.at("description").as_string()};
  if (ended)
    for (const std::vector<std::string>& fact : rows_from(about.at("ending").at("facts")))
      report.facts.emplace_back(fact.at(0), fact.at(1));
  else
    report.facts = {{"stopped after", std::to_string(steps.empty() ? 0 : steps.back().step + 1) + " steps"}};
  report.charts = charts(steps, evaluations, about);

  if (ReportTable samples = samples_table(evaluations, graded); !samples.rows.empty())
    report.tables.push_back(std::move(samples));
  if (ended)
    if (auto mistakes = rows_from(about.at("ending").at("mistakes")); !mistakes.empty())
      report.tables.push_back({"First mistakes", {"question", "answer", "instead of"}, std::move(mistakes)});
  add_health(report, steps);

  for (const EvaluationReport& r : evaluations)
    if (!r.heads.empty()) report.heads.push_back({r.step, r.heads});
  report.tokens = row_from(about.at("tokens"));
  for (const SettingsGroup& group : read_config_json(folder + "/config.json")) {
    ReportTable table{group.title, {}};
    for (const Field& f : group.fields)
      if (f.value != "default" && f.name != "samples" && f.name != "save_interval" && f.name != "keep" &&
          f.name != "health")
        table.rows.push_back({f.name, f.value});
    if (!table.rows.empty()) report.settings.push_back(std::move(table));
  }
  if (ended)
    if (const std::string heads = about.at("ending").at("heads").as_string(); !heads.empty())
      report.texts.emplace_back("What the heads of each layer do", heads);
  report.texts.emplace_back("Model", about.at("model").as_string());
  report.texts.emplace_back("Weight decay", about.at("weight_decay").as_string());
  write_file(folder + "/report.html", report_html(report));
  write_file(folder + "/loss.svg", chart_svg(report.charts[0]));
  if (const std::string moving = learning_svg(report.charts[0], evaluations); !moving.empty())
    write_file(folder + "/learning.svg", moving);
}

}  // namespace mote
