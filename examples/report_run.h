// The report of a kept run, from its logs and its settings: report.html and loss.svg.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "engine/base/math.h"
#include "examples/kept_run.h"
#include "examples/watch_run.h"

namespace toy_run {

/// What a run's logs do not say.
struct Ending {
  std::vector<std::pair<std::string, std::string>> facts;
  std::vector<Answers::Mistake> mistakes;
  std::string heads;  ///< what each head does, as text
};

inline Chart loss_chart(const std::vector<StepReport>& steps, const std::vector<EvaluationReport>& evaluations,
                        const Task& task) {
  Chart chart{.title = "loss", .lines = {{"training", {}, false}, {"held out", {}, true}}, .log = true};
  for (const StepReport& r : steps) chart.lines[0].points.emplace_back(r.step + 1, r.loss);
  for (const EvaluationReport& r : evaluations) chart.lines[1].points.emplace_back(r.step, r.loss);
  chart.mark = math::log(static_cast<double>(task.vocab_size()));
  chart.mark_label = "guessing";
  return chart;
}

inline std::vector<Chart> charts(const std::vector<StepReport>& steps, const std::vector<EvaluationReport>& evaluations,
                                 const Task& task) {
  std::vector<Chart> all{loss_chart(steps, evaluations, task)};
  if (task.graded()) {
    Chart accuracy{.title = "whole answers that are right", .lines = {}, .low = 0, .high = 1};
    if (task.holds_out()) accuracy.lines.push_back({"training questions", {}, true});  // first, as in the losses
    accuracy.lines.push_back({"held out", {}, true});
    for (const EvaluationReport& r : evaluations) {
      if (r.exact_match) accuracy.lines.back().points.emplace_back(r.step, *r.exact_match);
      if (r.train_exact_match) accuracy.lines.front().points.emplace_back(r.step, *r.train_exact_match);
    }
    if (const double chance = task.outcome().chance; chance > 0) accuracy.mark = chance, accuracy.mark_label = "chance";
    all.push_back(std::move(accuracy));
  }
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

inline std::vector<ReportTable> tables(const std::vector<EvaluationReport>& evaluations, const Ending& ending,
                                       const Task& task) {
  std::vector<ReportTable> all;
  ReportTable samples{task.graded() ? "Answers on the way" : "Samples on the way",
                      {"step", "question", "answer", "verdict"}};
  if (!task.graded()) samples.columns = {"step", "beginning", "how the model goes on"};
  constexpr std::size_t most = 40;  // evenly chosen where there are more
  const std::size_t n = evaluations.size(), shown = std::min(n, most);
  for (std::size_t i = 0; i < shown; ++i) {
    const EvaluationReport& r = evaluations[shown < 2 ? 0 : i * (n - 1) / (shown - 1)];
    for (const EvaluationReport::Sample& s : r.samples) {
      samples.rows.push_back({std::to_string(r.step), s.question, s.answer});
      if (task.graded()) samples.rows.back().push_back(s.right && *s.right ? "right" : "wrong");
    }
  }
  if (!samples.rows.empty()) all.push_back(std::move(samples));
  ReportTable mistakes{"First mistakes", {"question", "answer", "instead of"}};
  for (const Answers::Mistake& m : ending.mistakes) mistakes.rows.push_back({m.question, m.answer, m.instead_of});
  if (!mistakes.rows.empty()) all.push_back(std::move(mistakes));
  return all;
}

/// Writes report.html and loss.svg into the folder of a run. No clock is in them: they are the same for a run that was
/// interrupted. Errors: a log that somebody has changed.
inline void write_report(const KeptRun& kept, const RunSettings& settings, const Task& task, Model& model,
                         const Optimizer& optimizer, const std::vector<std::string>& tokens, const Ending& ending) {
  const std::vector<StepReport> steps = read_steps(kept.file("log.jsonl"));
  const std::vector<EvaluationReport> evaluations = read_evaluations(kept.file("evaluations.jsonl"));
  Report report{.title = "mote: " + settings.general.task, .description = task.description()};
  report.facts = ending.facts;
  report.charts = charts(steps, evaluations, task);
  report.tables = tables(evaluations, ending, task);
  for (const EvaluationReport& r : evaluations)
    if (!r.heads.empty()) report.heads.push_back({r.step, r.heads});
  if (!report.heads.empty()) {  // as many tokens as its first head has queries
    std::size_t T = 0;
    while ((T + 1) * (T + 2) / 2 <= report.heads[0].layers[0][0].size()) ++T;
    report.tokens.assign(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(std::min(T, tokens.size())));
  }
  for (const auto& [group, list] : settings.groups()) {
    ReportTable table{group, {}};
    for (const Field& f : list)
      if (f.value != "default") table.rows.push_back({f.name, f.value});
    if (group != "keeping" && group != "showing" && !table.rows.empty()) report.settings.push_back(std::move(table));
  }
  if (!ending.heads.empty()) report.texts.emplace_back("What the heads of each layer do", ending.heads);
  report.texts.emplace_back("Model", summary(model.module()));
  report.texts.emplace_back("Weight decay", describe(optimizer.groups()));
  write_file(kept.file("report.html"), report_html(report));
  write_file(kept.file("loss.svg"), chart_svg(report.charts[0]));
}

}  // namespace toy_run
