// What a report shows, and in which order: facts, charts, answers, heads, settings.
#include <algorithm>
#include <functional>

#include "engine/base/number_text.h"
#include "nn/head_pictures.h"
#include "train/report/page.h"
#include "train/run/run.h"

namespace mote {
namespace {

using StepReports = std::vector<StepReport>;
using Evaluations = std::vector<EvaluationReport>;

Chart loss_chart(const StepReports& steps, const Evaluations& evaluations, const Data& data) {
  Chart chart{.title = "loss", .lines = {{"training", {}, false}, {"held out", {}, true}}, .log = true};
  for (const StepReport& r : steps) chart.lines[0].points.emplace_back(r.step + 1, r.loss);
  for (const EvaluationReport& r : evaluations) chart.lines[1].points.emplace_back(r.step, r.loss);
  if (const std::optional<double> guessing = data.guessing_loss()) {
    chart.mark = *guessing;
    chart.mark_label = "guessing";
  }
  return chart;
}

Chart accuracy_chart(const Evaluations& evaluations, const Data& data) {
  Chart chart{.title = "whole answers that are right", .lines = {}, .low = 0, .high = 1};
  if (data.holds_out()) chart.lines.push_back({"questions to train on", {}, true});  // first, as in the losses
  chart.lines.push_back({"held out", {}, true});
  for (const EvaluationReport& r : evaluations) {
    if (r.exact_match) chart.lines.back().points.emplace_back(r.step, *r.exact_match);
    if (r.train_exact_match) chart.lines.front().points.emplace_back(r.step, *r.train_exact_match);
  }
  if (data.chance() > 0) chart.mark = data.chance(), chart.mark_label = "chance";
  return chart;
}

std::vector<Chart> charts(const StepReports& steps, const Evaluations& evaluations, const Data& data) {
  std::vector<Chart> all{loss_chart(steps, evaluations, data)};
  if (data.graded()) all.push_back(accuracy_chart(evaluations, data));
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

std::vector<ReportTable> tables(const Evaluations& evaluations, const std::optional<RunEnding>& ending, bool graded) {
  std::vector<ReportTable> all;
  ReportTable samples{graded ? "Answers on the way" : "Samples on the way", {"step", "question", "answer", "verdict"}};
  if (!graded) samples.columns = {"step", "beginning", "how the model goes on"};
  constexpr std::size_t most = 40;  // evenly chosen where there are more
  const std::size_t n = evaluations.size(), shown = std::min(n, most);
  for (std::size_t i = 0; i < shown; ++i) {
    const EvaluationReport& r = evaluations[shown < 2 ? 0 : i * (n - 1) / (shown - 1)];
    for (const EvaluationReport::Sample& s : r.samples) {
      samples.rows.push_back({std::to_string(r.step), s.question, s.answer});
      if (graded) samples.rows.back().push_back(s.right && *s.right ? "right" : "wrong");
    }
  }
  if (!samples.rows.empty()) all.push_back(std::move(samples));
  if (!ending || !ending->answers || ending->answers->mistakes.empty()) return all;
  ReportTable mistakes{"First mistakes", {"question", "answer", "instead of"}};
  for (const Answers::Mistake& m : ending->answers->mistakes)
    mistakes.rows.push_back({m.question, m.answer, m.instead_of});
  all.push_back(std::move(mistakes));
  return all;
}

/// What was measured of layers, and of changes of weights, in up to eight steps, those of one layer below each other.
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

std::vector<std::pair<std::string, std::string>> facts(const Run& run) {
  const std::optional<RunEnding>& end = run.ending();
  if (!end) return {{"stopped after", std::to_string(run.steps()) + " steps"}};
  std::vector<std::pair<std::string, std::string>> all{
      {"task", run.data().name()},
      {"steps", std::to_string(end->steps)},
      {"parameters", std::to_string(parameter_count(*run.subject().module))}};
  if (end->answers)
    all.emplace_back("exact match", end->answers->text());
  else
    all.emplace_back("held-out loss", fixed_text(end->loss, 4) + end->loss_note);
  return all;
}

/// What the heads of each layer do on an example: for whoever trains on data that says nothing about where to look.
std::string heads_text(const RunEnding& end) {
  std::string text =
      "Shares of attention to the token before, to the first one, and to what followed an earlier occurrence of the "
      "same\ntoken (induction); from 0.5 on it has a name. Entropy 1 is an even look at everything.\n";
  const IntArray ids = stack_rows({end.ids});
  for (std::size_t layer = 0; layer < end.heads.size(); ++layer)
    text += "\nlayer " + std::to_string(layer) + "\n" + describe(head_scores(end.heads[layer], ids));
  return text;
}

/// The heads of the last layer as a picture, over the last positions of the example.
std::string heads_picture(const RunEnding& end, const Data& data) {
  constexpr Index widest = 32;
  const Index T = std::ssize(end.ids), first = std::max<Index>(0, T - widest);
  std::vector<std::string> words;
  for (Index t = first; t < T; ++t) words.push_back(data.word(end.ids[static_cast<std::size_t>(t)]));
  return attention_svg(end.heads.back().slice(1, first, T).slice(2, first, T), words, words,
                       "layer " + std::to_string(end.heads.size() - 1) + " of a model trained on " + data.name());
}

}  // namespace

void write_report(const Run& run) {
  const RunFolder& folder = run.folder();
  const StepReports steps = read_steps(folder.file("log.jsonl"));
  const Evaluations evaluations = read_evaluations(folder.file("evaluations.jsonl"));
  Report report{.title = "mote: " + run.data().name(), .description = run.data().description()};
  report.facts = facts(run);
  report.charts = charts(steps, evaluations, run.data());
  report.tables = tables(evaluations, run.ending(), run.data().graded());
  add_health(report, steps);
  for (const EvaluationReport& r : evaluations)
    if (!r.heads.empty()) report.heads.push_back({r.step, r.heads});
  report.tokens = run.evaluator().tokens();
  for (const SettingsGroup& group : run.settings()) {
    ReportTable table{group.title, {}};
    for (const Field& f : group.fields)
      if (f.value != "default" && f.name != "samples" && f.name != "save_interval" && f.name != "keep" &&
          f.name != "health")
        table.rows.push_back({f.name, f.value});
    if (!table.rows.empty()) report.settings.push_back(std::move(table));
  }
  const bool has_heads = run.ending() && !run.ending()->heads.empty();
  if (has_heads) report.texts.emplace_back("What the heads of each layer do", heads_text(*run.ending()));
  report.texts.emplace_back("Model", summary(*run.subject().module));
  report.texts.emplace_back("Weight decay", describe(run.optimizer().groups()));
  folder.write("report.html", report_html(report));
  folder.write("loss.svg", chart_svg(report.charts[0]));
  if (has_heads) folder.write("heads.svg", heads_picture(*run.ending(), run.data()));
}

}  // namespace mote
