// Tables, pages and differences of runs.
#include "train/report/compare.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <tuple>

#include "engine/base/number_text.h"
#include "engine/base/table.h"
#include "engine/io/text/json.h"
#include "train/keep/folder.h"
#include "train/run/run_folder.h"
#include "train/run/settings.h"

namespace mote {
namespace {

/// The training time of all processes together. rates.jsonl has a line with 0 seconds where a process began, and a
/// line with the seconds since then at each checkpoint.
double seconds_of(const std::string& path) {
  double before = 0, last = 0;
  if (!file_exists(path)) return 0;
  const std::string text = read_file(path, std::uint64_t{1} << 32);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1) {
    const std::size_t stop = text.find('\n', at);
    if (stop == std::string::npos) break;  // a line that was only half written is ignored
    const Json line = parse_json(std::string_view(text).substr(at, stop - at), path);
    const double now = JsonPlace(line, path).at("seconds").as_number();
    if (now == 0) before += last;
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

/// A name without its group, "batch_size" for "training.batch_size". If two settings would have the same name, the
/// group stays.
std::string short_name(const std::string& name, const std::vector<std::string>& all) {
  const auto end_of = [](const std::string& full) { return full.substr(full.find('.') + 1); };
  const auto same = [&](const std::string& other) { return end_of(other) == end_of(name); };
  return std::count_if(all.begin(), all.end(), same) > 1 ? name : end_of(name);
}

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

/// The indices of an element, given its position in row-major order: "[1, 0]" for element 3 of shape [2, 3].
std::string place_of(Index element, const Shape& shape) {
  std::string place;
  for (int axis = shape.rank(); axis-- > 0; element /= shape[axis])
    place = std::to_string(element % shape[axis]) + (place.empty() ? "" : ", ") + place;
  return "[" + place + "]";
}

/// Maps a number of training steps to the report that was made after these steps.
std::map<Index, const StepReport*> by_step(const std::vector<StepReport>& reports) {
  std::map<Index, const StepReport*> all;
  for (const StepReport& r : reports) all[r.step + 1] = &r;
  return all;
}
std::map<Index, const EvaluationReport*> by_step(const std::vector<EvaluationReport>& reports) {
  std::map<Index, const EvaluationReport*> all;
  for (const EvaluationReport& r : reports) all[r.step] = &r;
  return all;
}

/// The first number in which two reports differ, such as "loss 0.5 | 0.25". If all numbers are equal, the text names
/// what else differs.
std::string difference(const StepReport& a, const StepReport& b) {
  for (const auto& [name, member] : {std::pair("loss", &StepReport::loss),
                                     {"learning rate", &StepReport::learning_rate},
                                     {"norm", &StepReport::grad_norm}})
    if (const std::string x = exact_text(a.*member), y = exact_text(b.*member); x != y)
      return std::string(name) + " " + x + " | " + y;
  return "what was measured of layers";
}
std::string difference(const EvaluationReport& a, const EvaluationReport& b) {
  const auto text = [](const std::optional<double>& x) { return x ? exact_text(*x) : "(none)"; };
  for (const auto& [name, x, y] : {std::tuple("loss", text(a.loss), text(b.loss)),
                                   {"exact match", text(a.exact_match), text(b.exact_match)},
                                   {"exact match in training", text(a.train_exact_match), text(b.train_exact_match)}})
    if (x != y) return std::string(name) + " " + x + " | " + y;
  return "its samples, or what heads look at";
}

/// Adds to `found` the first report that both runs have and that differs, and how many reports only one of the runs
/// has.
template <class Report>
void compare_reports(const std::vector<Report>& a, const std::vector<Report>& b, const std::string& what,
                     std::vector<std::string>& found) {
  const auto x = by_step(a), y = by_step(b);
  Index only_a = 0, only_b = std::ssize(y);
  bool differs = false;
  for (const auto& [step, report] : x) {
    const auto other = y.find(step);
    if (other == y.end()) {
      ++only_a;
      continue;
    }
    --only_b;
    if (differs || log_line(*report) == log_line(*other->second)) continue;
    differs = true;
    found.push_back(what + " " + std::to_string(step) +
                    " is the first that differs: " + difference(*report, *other->second));
  }
  if (only_a + only_b > 0)
    found.push_back(what + "s that only one of them has: " + std::to_string(only_a) + " | " + std::to_string(only_b));
}

/// The first tensor that differs between two checkpoints, or else the first metadata text, or "" if nothing differs.
/// The version of mote is not compared.
std::string checkpoint_difference(const std::string& path, const std::string& other) {
  const SafetensorsFile a(path), b(other);
  for (const TensorEntry& tensor : a.tensors())
    if (const std::string how = tensor_difference(a, tensor, b); !how.empty()) return tensor.name + ": " + how;
  for (const TensorEntry& tensor : b.tensors())
    if (!a.find(tensor.name)) return tensor.name + ": only in " + b.name();
  for (const SafetensorsFile* const file : {&a, &b})
    for (const auto& [name, text] : file->metadata()) {
      const std::string *const x = a.find_metadata(name), *const y = b.find_metadata(name);
      if (name == "mote.version" || (x && y && *x == *y)) continue;
      return name + ": " + text_of(x) + " | " + text_of(y);
    }
  return "";
}

/// How the elements x and y of two tensors differ; "" if none differs.
template <class T>
std::string elements_difference(const std::vector<T>& x, const std::vector<T>& y, const Shape& shape) {
  const auto text = [](T value) {
    if constexpr (std::is_same_v<T, Index>)
      return std::to_string(value);
    else
      return exact_text(value);
  };
  double absolute = 0, relative = 0;
  Index count = 0;
  std::string place;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double u = static_cast<double>(x[i]), v = static_cast<double>(y[i]);
    if (x[i] == y[i] || (std::isnan(u) && std::isnan(v))) continue;
    if (count++ == 0) place = place_of(static_cast<Index>(i), shape) + ": " + text(x[i]) + " | " + text(y[i]);
    const bool finite = std::isfinite(u) && std::isfinite(v);
    const double apart = std::is_same_v<T, Index> ? std::max(std::abs(u - v), 1.0) : std::abs(u - v);
    absolute = std::max(absolute, finite ? apart : INFINITY);
    relative = std::max(relative, finite ? apart / std::max(std::abs(u), std::abs(v)) : INFINITY);
  }
  if (count == 0) return "";
  return "largest difference " + general_text(absolute, 3) + ", relative " + general_text(relative, 3) + ", in " +
         grouped(count) + " of " + grouped(std::ssize(x)) + " elements, the first at " + place;
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
    const std::string path = folder + "/" + name;
    if (!is_folder(path) || newest_checkpoint(path).empty()) continue;
    try {
      check_checksums(SafetensorsFile(newest_checkpoint(path)));
      runs.push_back(read_run(path));
    } catch (const Error& e) {
      runs.push_back({.name = name, .problem = e.what()});
    }
  }
  return runs;
}

ReportTable runs_table(const std::vector<RunRecord>& all) {
  std::vector<RunRecord> runs = all;
  std::erase_if(runs, [](const RunRecord& run) { return !run.problem.empty(); });
  const std::vector<std::string> names = differing(runs);
  ReportTable table{"Runs", {"run"}};
  for (const std::string& name : names) table.columns.push_back(short_name(name, names));
  for (const char* const what : {"steps", "training loss", "held-out loss", "best", "right", "seconds"})
    table.columns.emplace_back(what);
  for (const RunRecord& run : runs) {
    std::vector<std::string> row{run.name};
    for (const std::string& name : names) row.push_back(text_of(setting(run.settings, name)));
    std::string best = "-";
    double least = INFINITY;  // step 0 is never the best
    for (const EvaluationReport& r : run.evaluations)
      if (r.step > 0 && r.loss < least) best = fixed_text(least = r.loss, 4) + " after " + std::to_string(r.step);
    const bool evaluated = !run.evaluations.empty();
    const double right = evaluated ? run.evaluations.back().exact_match.value_or(NAN) : NAN;
    row.push_back(std::to_string(run.steps.size()));
    row.push_back(run.steps.empty() ? "-" : fixed_text(run.steps.back().loss, 4));
    row.push_back(evaluated ? fixed_text(run.evaluations.back().loss, 4) : "-");
    row.push_back(best);
    row.push_back(std::isnan(right) ? "-" : percent_text(right, 1));
    row.push_back(fixed_text(run.seconds, 1));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string runs_html(const std::string& title, const std::vector<RunRecord>& all) {
  std::vector<RunRecord> runs = all;
  std::erase_if(runs, [](const RunRecord& run) { return !run.problem.empty(); });
  Report report{.title = title, .description = std::to_string(runs.size()) + " runs"};
  Chart held_out = chart_of("held-out loss", runs, &RunRecord::evaluations,
                            [](const EvaluationReport& r) { return std::optional(r.loss); });
  Chart training =
      chart_of("training loss", runs, &RunRecord::steps, [](const StepReport& r) { return std::optional(r.loss); });
  Chart right = chart_of("whole answers that are right, held out", runs, &RunRecord::evaluations,
                         [](const EvaluationReport& r) { return r.exact_match; });
  held_out.log = training.log = true;
  right.low = 0;
  right.high = 1;
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
  const bool integers = readable(x.dtype, DType::i64) && readable(y->dtype, DType::i64);
  // Arrays of integers called "data" or "<layer>.random" are states of random streams. Batches are drawn from "data".
  if (integers && (x.name == "data" || x.name.ends_with(".random"))) return "another state of this random stream";
  const std::string how = integers
                              ? elements_difference(a.int_array(x).to_vector(), b.int_array(*y).to_vector(), x.shape)
                              : elements_difference(numbers_of(a, x), numbers_of(b, *y), x.shape);
  return how.empty() ? "equal as numbers, not in every bit" : how;
}

std::vector<std::string> first_differences(const std::string& folder, const std::string& other) {
  const std::vector<RunRecord> runs{read_run(folder), read_run(other)};
  std::vector<std::string> found;
  const std::vector<std::string> names = differing(runs);
  for (const std::string& name : names)
    found.push_back("setting " + short_name(name, names) + ": " + text_of(setting(runs[0].settings, name)) + " | " +
                    text_of(setting(runs[1].settings, name)));
  compare_reports(runs[0].steps, runs[1].steps, "step", found);
  compare_reports(runs[0].evaluations, runs[1].evaluations, "evaluation", found);

  std::vector<std::string> all = checkpoint_names(folder);
  all.push_back("best.safetensors");
  bool both = false;
  for (const std::string& name : all) {
    const std::string path = folder + "/" + name, there = other + "/" + name;
    if (!file_exists(path) || !file_exists(there)) continue;
    both = true;
    const std::string how = checkpoint_difference(path, there);
    if (how.empty()) continue;
    found.push_back(name + ": " + how);
    return found;
  }
  if (!both) found.push_back("they have no checkpoints after the same step");
  return found;
}

}  // namespace mote
