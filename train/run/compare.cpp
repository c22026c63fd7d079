// Tables, pages and differences of runs.
#include "train/run/compare.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <optional>

#include "engine/base/number_text.h"
#include "engine/io/text/json.h"
#include "train/run/folder.h"
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

/// The first element in which two tensors of the same name differ; empty if none does.
std::string first_difference(const SafetensorsFile& a, const TensorEntry& x, const SafetensorsFile& b) {
  const TensorEntry* const y = b.find(x.name);
  if (!y) return x.name + " is only in " + a.name();
  if (x.dtype != y->dtype || x.shape != y->shape) return x.name + " has another type or shape";
  const auto bytes = [](const SafetensorsFile& file, const TensorEntry& entry) {
    std::string all;
    file.read_bytes(entry, [&](const void* data, std::size_t n) { all.append(static_cast<const char*>(data), n); });
    return all;
  };
  const std::string first = bytes(a, x), second = bytes(b, *y);
  const auto at = std::mismatch(first.begin(), first.end(), second.begin()).first - first.begin();
  if (at == std::ssize(first)) return "";
  Index element = at / std::max<Index>(1, std::ssize(first) / x.shape.numel());
  const auto value = [&](const SafetensorsFile& file, const TensorEntry& entry) {
    const bool whole = x.dtype == DType::i64 || x.dtype == DType::boolean;
    return whole ? std::to_string(file.int_array(entry).contiguous().data()[element])
                 : exact_text(static_cast<double>(file.array(entry).contiguous().data()[element]));
  };
  const std::string values = value(a, x) + " | " + value(b, *y);
  std::string place;
  for (int axis = x.shape.rank(); axis-- > 0; element /= x.shape[axis])
    place = std::to_string(element % x.shape[axis]) + (place.empty() ? "" : ", ") + place;
  return x.name + " [" + place + "] " + values;
}

/// The first step whose log differs; empty if none does.
std::string first_step(const std::vector<StepReport>& a, const std::vector<StepReport>& b) {
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i)
    for (const auto& [name, member] : {std::pair("loss", &StepReport::loss),
                                       {"learning rate", &StepReport::learning_rate},
                                       {"norm", &StepReport::grad_norm}})
      if (std::bit_cast<std::uint64_t>(a[i].*member) != std::bit_cast<std::uint64_t>(b[i].*member))
        return "step " + std::to_string(a[i].step + 1) + " is the first whose log differs: " + name + " " +
               exact_text(a[i].*member) + " | " + exact_text(b[i].*member);
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
  for (const std::string& name : list_folder(folder)) {
    detail::FileStatus status;
    const std::string path = folder + "/" + name;
    if (detail::status_of(path.c_str(), status) == 0 && status.kind == detail::FileKind::folder &&
        !newest_checkpoint(path).empty())
      runs.push_back(read_run(path));
  }
  std::sort(runs.begin(), runs.end(), [](const RunRecord& a, const RunRecord& b) { return a.name < b.name; });
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
    double best = INFINITY;
    for (const EvaluationReport& r : run.evaluations) best = std::min(best, r.step > 0 ? r.loss : INFINITY);
    const bool evaluated = !run.evaluations.empty();
    const double right = evaluated ? run.evaluations.back().exact_match.value_or(NAN) : NAN;
    row.push_back(std::to_string(run.steps.size()));
    row.push_back(run.steps.empty() ? "-" : fixed_text(run.steps.back().loss, 4));
    row.push_back(evaluated ? fixed_text(run.evaluations.back().loss, 4) : "-");
    row.push_back(std::isfinite(best) ? fixed_text(best, 4) : "-");
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
      if (const std::string where = first_difference(a, tensor, b); !where.empty()) {
        found.push_back(name + ": " + where);
        return found;
      }
  }
  if (!both) found.push_back("they have no checkpoints after the same step");
  return found;
}

}  // namespace mote
