// Tables, pages and differences of runs.
#include "train/run/compare.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "engine/base/number_text.h"
#include "engine/base/table.h"
#include "engine/io/text/json.h"
#include "train/keep/folder.h"
#include "train/run/run_folder.h"
#include "train/run/settings.h"

namespace mote {
namespace {

/// rates.jsonl has the seconds since its process began, at each checkpoint: a smaller number is another process.
double seconds_of(const std::string& path) {
  double before = 0, last = 0;
  if (!file_exists(path)) return 0;
  const std::string text = read_file(path, std::uint64_t{1} << 32);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::size_t stop = text.find('\n', at);
    if (stop == std::string::npos) break;  // half a line: nothing depends on it
    const Json line = parse_json(std::string_view(text).substr(at, stop - at), path);
    const double now = JsonPlace(line, path).at("seconds").as_number();
    if (now < last) before += last;
    last = now;
  }
  return before + last;
}

const std::string* setting(const FieldValues& settings, const std::string& name) {
  for (const auto& [key, value] : settings)
    if (key == name) return &value;
  return nullptr;
}
std::string text_of(const std::string* value) { return value ? *value : "(none)"; }

/// Names of settings whose values are not the same in all runs.
std::vector<std::string> differing(const std::vector<RunRecord>& runs) {
  std::vector<std::string> names;
  for (const RunRecord& run : runs)
    for (const auto& entry : run.settings) {
      const bool differs = std::any_of(runs.begin(), runs.end(), [&](const RunRecord& other) {
        const std::string* const there = setting(other.settings, entry.first);
        return !there || *there != entry.second;
      });
      if (differs && std::find(names.begin(), names.end(), entry.first) == names.end()) names.push_back(entry.first);
    }
  return names;
}

Chart chart_of(const std::string& title, const std::vector<RunRecord>& runs, const auto& reports, const auto& value) {
  Chart chart{.title = title, .lines = {}};
  for (const RunRecord& run : runs) {
    chart.lines.push_back({run.name, {}});
    for (const auto& r : run.*reports)
      if (const std::optional<double> y = value(r)) chart.lines.back().points.emplace_back(r.step, *y);
  }
  return chart;
}

/// The bytes of a tensor; nothing if its checksum is wrong.
std::optional<std::string> bytes_of(const SafetensorsFile& file, const TensorEntry& tensor) {
  std::string all;
  const auto add = [&](const void* data, std::size_t n) { all.append(static_cast<const char*>(data), n); };
  return file.read_bytes(tensor, add) ? std::optional(std::move(all)) : std::nullopt;
}

/// "[1, 0]", of the second row the first of such a shape.
std::string place_of(Index element, const Shape& shape) {
  std::string place;
  for (int axis = shape.rank(); axis-- > 0; element /= shape[axis])
    place = std::to_string(element % shape[axis]) + (place.empty() ? "" : ", ") + place;
  return "[" + place + "]";
}

/// The first step whose log differs; empty if none does.
std::string first_step(const std::vector<StepReport>& a, const std::vector<StepReport>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    for (const auto& [name, member] : {std::pair("loss", &StepReport::loss),
                                       {"learning rate", &StepReport::learning_rate},
                                       {"norm", &StepReport::grad_norm}})
      if (const std::string x = exact_text(a[i].*member), y = exact_text(b[i].*member); x != y)
        return "step " + std::to_string(a[i].step + 1) + " is the first whose log differs: " + name + " " + x + " | " +
               y;
  if (a.size() == b.size()) return "";
  return "steps: " + std::to_string(a.size()) + " | " + std::to_string(b.size()) +
         ", equal in every bit of the log as " + "far as both go";
}

}  // namespace

RunRecord read_run(const std::string& folder) {
  const std::string newest = newest_checkpoint(folder);
  check(!newest.empty(), "there is no run in ", folder);
  const std::string path = folder.substr(0, folder.find_last_not_of('/') + 1);
  RunRecord run{.name = path.substr(path.find_last_of('/') + 1)};
  run.settings = saved_settings(SafetensorsFile(newest));
  run.steps = read_steps(folder + "/log.jsonl");
  run.evaluations = read_evaluations(folder + "/evaluations.jsonl");
  run.seconds = seconds_of(folder + "/rates.jsonl");
  return run;
}

std::vector<RunRecord> read_runs(const std::string& folder) {
  std::vector<RunRecord> runs;
  for (const std::string& name : list_folder(folder))
    if (const std::string path = folder + "/" + name; is_folder(path) && !newest_checkpoint(path).empty())
      runs.push_back(read_run(path));
  return runs;
}

ReportTable runs_table(const std::vector<RunRecord>& runs) {
  const std::vector<std::string> names = differing(runs);
  ReportTable table{"Runs", {"run"}};
  table.columns.insert(table.columns.end(), names.begin(), names.end());
  for (const char* const what : {"steps", "training loss", "held-out loss", "best", "right", "seconds"})
    table.columns.emplace_back(what);
  for (const RunRecord& run : runs) {
    std::vector<std::string> row{run.name};
    for (const std::string& name : names) row.push_back(text_of(setting(run.settings, name)));
    std::string best = "-";
    double least = INFINITY;  // the first weights are never best
    for (const EvaluationReport& r : run.evaluations)
      if (r.step > 0 && r.loss < least) best = fixed_text(least = r.loss, 4) + " after " + std::to_string(r.step);
    const bool evaluated = !run.evaluations.empty();
    const double right = evaluated ? run.evaluations.back().exact_match.value_or(NAN) : NAN;
    row.push_back(std::to_string(run.steps.size()));
    row.push_back(run.steps.empty() ? "-" : fixed_text(run.steps.back().loss, 4));
    row.push_back(evaluated ? fixed_text(run.evaluations.back().loss, 4) : "-");
    row.push_back(best);
    row.push_back(std::isnan(right) ? "-" : fixed_text(100 * right, 1) + " %");
    row.push_back(fixed_text(run.seconds, 1));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string runs_html(const std::string& title, const std::vector<RunRecord>& runs) {
  Report report{.title = title, .description = std::to_string(runs.size()) + " runs"};
  Chart held_out = chart_of("held-out loss", runs, &RunRecord::evaluations,
                            [](const EvaluationReport& r) { return std::optional(r.loss); });
  Chart training =
      chart_of("training loss", runs, &RunRecord::steps, [](const StepReport& r) { return std::optional(r.loss); });
  Chart right = chart_of("whole answers that are right, held out", runs, &RunRecord::evaluations,
                         [](const EvaluationReport& r) { return r.exact_match; });
  held_out.log = training.log = true;
  right.low = 0, right.high = 1;
  report.charts = {std::move(held_out), std::move(training)};
  const auto has_points = [](const ChartLine& line) { return !line.points.empty(); };
  if (std::any_of(right.lines.begin(), right.lines.end(), has_points)) report.charts.push_back(std::move(right));
  report.tables = {runs_table(runs)};
  return report_html(report);
}

std::vector<double> numbers_of(const SafetensorsFile& file, const TensorEntry& tensor) {
  const auto doubles = [](const auto& x) { return std::vector<double>(x.values().begin(), x.values().end()); };
  return readable(tensor.dtype, DType::i64) ? doubles(file.int_array(tensor)) : doubles(file.array(tensor));
}

std::string tensor_difference(const SafetensorsFile& a, const TensorEntry& x, const SafetensorsFile& b) {
  const TensorEntry* const y = b.find(x.name);
  if (!y) return "only in " + a.name();
  const std::optional<std::string> first = bytes_of(a, x), second = bytes_of(b, *y);
  if (!first || !second) return "checksum WRONG, " + (first ? b : a).name() + " was changed";
  if (x.shape != y->shape) return "other shapes";
  if (x.dtype == y->dtype && first == second) return "";
  if (!readable(x.dtype) || !readable(y->dtype)) return "different";
  const std::vector<double> us = numbers_of(a, x), vs = numbers_of(b, *y);
  double absolute = 0, relative = 0;
  Index count = 0;
  std::string place;
  for (std::size_t i = 0; i < us.size(); ++i) {
    const double u = us[i], v = vs[i];
    if (u == v || (std::isnan(u) && std::isnan(v))) continue;
    if (count++ == 0) place = place_of(static_cast<Index>(i), x.shape) + ": " + exact_text(u) + " | " + exact_text(v);
    const bool finite = std::isfinite(u) && std::isfinite(v);
    absolute = std::max(absolute, finite ? std::abs(u - v) : INFINITY);
    relative = std::max(relative, finite ? std::abs(u - v) / std::max(std::abs(u), std::abs(v)) : INFINITY);
  }
  if (count == 0) return "equal as numbers, not in every bit";
  return "largest difference " + general_text(absolute, 3) + ", relative " + general_text(relative, 3) + ", in " +
         grouped(count) + " of " + grouped(std::ssize(us)) + " elements, the first at " + place;
}

std::vector<std::string> first_differences(const std::string& folder, const std::string& other) {
  const std::vector<RunRecord> runs{read_run(folder), read_run(other)};
  std::vector<std::string> found;
  for (const std::string& name : differing(runs))
    found.push_back("setting " + name + ": " + text_of(setting(runs[0].settings, name)) + " | " +
                    text_of(setting(runs[1].settings, name)));
  if (const std::string step = first_step(runs[0].steps, runs[1].steps); !step.empty()) found.push_back(step);
  const std::vector<std::string> others = checkpoint_names(other);
  bool both = false;
  for (const std::string& name : checkpoint_names(folder)) {
    if (std::find(others.begin(), others.end(), name) == others.end()) continue;
    both = true;
    const SafetensorsFile a(folder + "/" + name), b(other + "/" + name);
    for (const TensorEntry& tensor : a.tensors())
      if (const std::string how = tensor_difference(a, tensor, b); !how.empty()) {
        found.push_back(name + ": " + tensor.name + ": " + how);
        return found;
      }
  }
  if (!both) found.push_back("they have no checkpoints after the same step");
  return found;
}

}  // namespace mote
