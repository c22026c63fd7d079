// What is in a safetensors file, in the folder of a run or in that of a GPT-2; how two of them differ, and what came of
// many runs.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/number_text.h"
#include "engine/io/text/table.h"
#include "engine/io/text/utf8_stream.h"
#include "examples/program.h"
#include "examples/saved_run.h"
#include "models/gpt_files.h"
#include "train/run/compare.h"

using namespace mote;

namespace {

const char* const help =
    " FILE | FOLDER | RUNS [--page FILE] | PATH OTHER\n\n"
    "  FILE        safetensors, checkpoints of mote included\n"
    "  FOLDER      a run (train --out_dir), or config.json and model.safetensors of a GPT-2\n"
    "  RUNS        a folder of runs: their settings and outcomes; --page FILE.html also writes their curves\n"
    "  PATH OTHER  how two files differ; a folder stands for its newest checkpoint or its model, and of two runs the\n"
    "              first step, tensor and element are shown in which they do\n\n"
    "Of a tensor: minimum, maximum, mean and norm (the root of the sum of squares) of its finite elements, how many\n"
    "are NaN or infinite, and its checksum: ok, WRONG (the file was changed; what it holds is not shown), or none.\n"
    "Of two tensors: the largest |a - b|, and the largest |a - b| / max(|a|, |b|); infinite where one of them alone\n"
    "is NaN or infinite, or both are infinities of other signs.\n\n"
    "Exit code: 0; 1: a checksum is wrong, or the two differ; 2: trouble, such as a file that cannot be read.\n";

/// Text from a file as a terminal may get it.
std::string shown(const std::string& text) { return readable_text(text, ""); }

/// Errors: those of SafetensorsFile; what is another kind of file from its beginning.
SafetensorsFile open(const std::string& path) {
  const FileReader file(path);
  char begin[9] = {};  // the length of the header, and its first character
  file.read(0, begin, static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), sizeof begin)));
  check(begin[8] == '{', path, " is no safetensors file: inspect shows such files, checkpoints of mote among them, ",
        "and the folders of runs and of GPT-2s");
  return SafetensorsFile(path);
}

/// Name and text of each entry. An optimizer counts its steps for each parameter: those that are alike are one row.
std::vector<TableRow> gathered(const Metadata& all) {
  std::map<std::pair<std::string, std::string>, Index> times;
  for (const auto& [name, text] : all) {
    const std::size_t begin = name.find('.');
    const bool counted = name.ends_with(".step") && begin < name.size() - 5;
    ++times[{counted ? name.substr(0, begin) + ".*.step" : name, text}];
  }
  std::vector<TableRow> rows;
  for (const auto& [entry, n] : times)
    rows.push_back({shown(entry.first), shown(entry.second) + (n > 1 ? " (" + grouped(n) + " times)" : "")});
  return rows;
}

/// The elements of a type that mote reads: this program's `real` is double.
Array numbers(const SafetensorsFile& file, const TensorEntry& t) {
  if (!readable(t.dtype, DType::i64)) return file.array(t);
  const IntArray n = file.int_array(t);
  return Array(t.shape, std::vector<real>(n.values().begin(), n.values().end()));
}

/// Minimum, maximum, mean and norm of the finite elements; how many are NaN, and how many infinite.
TableRow statistics(const Array& x) {
  double least = std::numeric_limits<double>::infinity(), most = -least, mean = 0, norm = 0;
  Index finite = 0, nan = 0, infinite = 0;
  for (const double v : x.values()) {
    nan += std::isnan(v), infinite += std::isinf(v);
    if (!std::isfinite(v)) continue;
    const auto n = static_cast<double>(++finite);
    least = std::min(least, v), most = std::max(most, v);
    mean += v / n - mean / n;  // neither this nor the norm grows beyond a double on the way
    norm = std::hypot(norm, v);
  }
  TableRow cells;
  for (const double value : {least, most, mean, norm}) cells.push_back(finite > 0 ? general_text(value, 4) : "-");
  cells.insert(cells.end(), {std::to_string(nan), std::to_string(infinite)});
  return cells;
}

int show_file(const std::string& path) {
  const SafetensorsFile file = open(path);
  std::cout << shown(path) << ", " << grouped(static_cast<Index>(FileReader(path).size())) << " bytes\n\n"
            << table_text(gathered(file.metadata())) << (file.metadata().empty() ? "" : "\n");
  std::vector<TableRow> rows{{"tensor", "type", "shape", "min", "max", "mean", "norm", "NaN", "inf", "checksum"}};
  Index elements = 0, wrong = 0;
  for (const TensorEntry& t : file.tensors()) {
    const bool intact = file.read_bytes(t, [](const void*, std::size_t) {});
    elements += t.shape.numel(), wrong += !intact;
    const TableRow cells = intact && readable(t.dtype) ? statistics(numbers(file, t)) : TableRow(6, "-");
    rows.push_back({shown(t.name), text_of(t.dtype), text_of(t.shape)});
    rows.back().insert(rows.back().end(), cells.begin(), cells.end());
    rows.back().push_back(!intact ? "WRONG" : t.crc32 ? "ok" : "none");
  }
  std::cout << table_text(rows, "lllrrrrrr") << "\ntensors: " << grouped(std::ssize(file.tensors()))
            << ", elements: " << grouped(elements) << ", checksums: "
            << (wrong > 0              ? grouped(wrong) + " WRONG, the file was changed"
                : file.has_checksums() ? "all ok"
                                       : "none")
            << "\n";
  return wrong > 0 ? 1 : 0;
}

constexpr const char* equal_bits = "equal in every bit";

std::string difference(const Array& a, const Array& b) {
  double absolute = 0, relative = 0;
  Index count = 0;
  for (std::size_t i = 0; i < a.values().size(); ++i) {
    const double u = a.values()[i], v = b.values()[i];
    if (u == v || (std::isnan(u) && std::isnan(v))) continue;
    ++count;
    const bool finite = std::isfinite(u) && std::isfinite(v);
    const double away = finite ? std::abs(u - v) : std::numeric_limits<double>::infinity();
    absolute = std::max(absolute, away);
    relative = std::max(relative, finite ? away / std::max(std::abs(u), std::abs(v)) : away);
  }
  if (count == 0) return "equal as numbers, not in every bit";
  return "largest difference " + general_text(absolute, 3) + ", relative " + general_text(relative, 3) + ", in " +
         grouped(count) + " of " + grouped(a.numel()) + " elements";
}

/// How the tensors of one name in both files differ.
std::string difference(const SafetensorsFile& a, const TensorEntry& x, const SafetensorsFile& b, const TensorEntry& y) {
  std::string bytes[2];
  for (const bool second : {false, true}) {
    const SafetensorsFile& file = second ? b : a;
    if (!file.read_bytes(second ? y : x, [&](const void* data, std::size_t n) {
          bytes[second].append(static_cast<const char*>(data), n);
        }))
      return "checksum WRONG, " + shown(file.name()) + " was changed";
  }
  if (x.shape != y.shape) return "other shapes";
  if (x.dtype == y.dtype && bytes[0] == bytes[1]) return equal_bits;
  return readable(x.dtype) && readable(y.dtype) ? difference(numbers(a, x), numbers(b, y)) : "different";
}

bool is_folder(const std::string& path) {
  detail::FileStatus status;
  return detail::status_of(path.c_str(), status) == 0 && status.kind == detail::FileKind::folder;
}

bool is_run(const std::string& path) { return is_folder(path) && !newest_checkpoint(path).empty(); }

/// The file that a path stands for.
std::string file_of(const std::string& path) {
  if (!is_folder(path)) return path;
  return is_run(path) ? newest_checkpoint(path) : path + "/model.safetensors";
}

int compare(const std::string& path, const std::string& other) {
  const SafetensorsFile a = open(file_of(path)), b = open(file_of(other));
  std::cout << shown(a.name()) << " | " << shown(b.name()) << "\n\n";
  if (is_run(path) && is_run(other)) {
    const std::vector<std::string> differences = first_differences(path, other);
    for (const std::string& each : differences) std::cout << shown(each) << "\n";
    std::cout << (differences.empty() ? "settings, logs and common checkpoints are equal in every bit\n\n" : "\n");
  }
  Metadata changed;
  std::vector<TableRow> rows;
  Index equal = 0;
  const auto both = [](const std::string& s, const std::string& t) { return s == t ? s : s + " | " + t; };
  for (const SafetensorsFile* const file : {&a, &b}) {
    for (const auto& [name, text] : file->metadata()) {
      const std::string *const x = a.find_metadata(name), *const y = b.find_metadata(name);
      if ((file == &b && x) || (x && y && *x == *y)) continue;
      changed.emplace_back(name, (x ? *x : "(none)") + " | " + (y ? *y : "(none)"));
    }
    for (const TensorEntry& t : file->tensors()) {
      const TensorEntry *const x = a.find(t.name), *const y = b.find(t.name);
      if (file == &b && x) continue;
      const std::string what = x && y ? difference(a, *x, b, *y) : "only in " + shown(file->name());
      equal += what == equal_bits;
      rows.push_back({shown(t.name), both(text_of(t.dtype), text_of((y ? y : x)->dtype)),
                      both(text_of(t.shape), text_of((y ? y : x)->shape)), what});
    }
  }
  for (const TableRow& row : gathered(changed)) std::cout << row[0] << ": " << row[1] << "\n";
  const Index different = std::ssize(rows) - equal;
  std::cout << (changed.empty() ? "" : "\n") << table_text(rows) << "\ntensors: " << grouped(equal) << " " << equal_bits
            << ", " << grouped(different) << " not; metadata: " << grouped(std::ssize(changed)) << " differ\n";
  return different > 0 || !changed.empty() ? 1 : 0;
}

// Folders.

/// Settings as lines of text; without those that are not given, which say "default".
void print_fields(const std::string& title, std::vector<Field> list) {
  std::erase_if(list, [](const Field& f) { return f.value == "default"; });
  std::string line = title + ":";
  for (const Field& f : list) {
    const std::string item = shown(" " + f.name + " = " + f.value) + (&f == &list.back() ? "" : ",");
    if (line.size() + item.size() > 111) {
      std::cout << line << "\n";
      line = std::string(title.size() + 1, ' ');
    }
    line += item;
  }
  std::cout << line << "\n";
}

/// A number that a checkpoint keeps, or "?".
std::string kept(const SafetensorsFile& checkpoint, const std::string& name) {
  const std::string* const text = checkpoint.find_metadata(name);
  return text ? shown(*text) : "?";
}

/// The last three lines of a log, of its last 4 KiB.
std::string last_lines(const std::string& log) {
  const FileReader reader(log);
  std::string end(static_cast<std::size_t>(std::min<std::uint64_t>(reader.size(), 4096)), '\0');
  reader.read(reader.size() - end.size(), end.data(), end.size());
  std::size_t at = end.size();
  for (int n = 0; n < 4 && at != std::string::npos; ++n) at = at == 0 ? std::string::npos : end.rfind('\n', at - 1);
  return readable_text(end.substr(at + 1));
}

/// Prints the settings that a checkpoint has; returns the table of the model's layers, "" for a program's own data.
std::string show_settings(const SafetensorsFile& checkpoint) {
  const std::string* const name = saved_setting(checkpoint, "task");
  if (name && !is_task(*name)) {
    std::cout << shown(*name) << ": data of a program's own; only the program that made the run can go on with it\n\n";
    std::vector<Field> all;
    for (const auto& [key, text] : checkpoint.metadata())
      if (key.starts_with("settings.")) all.push_back({key.substr(9), text, "", ""});
    print_fields("settings", all);
    return "";
  }
  const RunSettings settings = read_settings(checkpoint);
  const std::unique_ptr<Task> task = settings.make_task();
  std::string description;
  try {
    description = task->description();
  } catch (const Error& e) {  // a text that lies elsewhere by now
    description = e.what();
  }
  std::cout << settings.task << ": " << shown(description) << "\n\n";
  print_fields("run", fields(settings.run));
  print_fields("task", settings.task_fields());
  print_fields("model", settings.model_fields());
  print_fields("training", fields(settings.recipe));
  return "\n" + summary(settings.new_model(*task, Init::none(Generator())));
}

int show_run(const std::string& folder) {
  const SafetensorsFile newest = open(newest_checkpoint(folder));
  const std::string layers = show_settings(newest), best = best_checkpoint(folder), log = folder + "/log.jsonl";
  std::cout << "\nnewest checkpoint: " << newest.name() << ", after " << kept(newest, "steps") << " of "
            << kept(newest, "settings.max_iters") << " steps\n";
  if (!best.empty()) {
    const SafetensorsFile file = open(best);
    std::cout << "best checkpoint: " << best << ", after " << kept(file, "steps") << " steps: loss "
              << kept(file, "best_score") << " on held-out batches\n";
  }
  if (file_exists(log)) std::cout << "\nlast lines of " << shown(log) << "\n" << last_lines(log);
  std::cout << layers;
  return 0;
}

int show_huggingface(const std::string& folder) {
  const std::string path = folder + "/config.json";
  const GPTConfig config = parse_huggingface_config(read_file(path, 1 << 20), path);
  print_fields("config", fields(config));
  std::cout << "\n" << summary(GPT(config, Init::none(Generator())));
  return 0;
}

int show_runs(const std::string& folder, const std::string& page) {
  const std::vector<RunRecord> runs = read_runs(folder);
  check(!runs.empty(), folder, " has no config.json: it is neither a run nor a model's folder, nor one of runs");
  const ReportTable table = runs_table(runs);
  std::vector<TableRow> rows{table.columns};
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  for (TableRow& row : rows)
    for (std::string& cell : row) cell = shown(cell);
  std::cout << table_text(rows);
  if (page.empty()) return 0;
  write_file(page, runs_html("mote: " + folder, runs));
  std::cout << "\ntheir curves are in " << shown(page) << "\n";
  return 0;
}

int run_command(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  std::string page;
  if (paths.size() == 3 && paths[1] == "--page") page = paths[2], paths.resize(1);
  for (const std::string& path : paths) {
    if (path == "--help" || path == "-h") {
      std::cout << "Shows what is in a file of tensors, in the folder of a run, or in that of a GPT-2; or how two "
                   "files differ.\n\nusage: "
                << argv[0] << help;
      return 0;
    }
    if (path.starts_with("-")) throw UsageError("unknown option " + path + " (--help explains what there is)");
  }
  if (paths.empty() || paths.size() > 2)
    throw UsageError("give one file or folder, or two to compare (--help says more)");
  if (paths.size() == 2) return compare(paths[0], paths[1]);
  if (!is_folder(paths[0])) return show_file(paths[0]);
  if (is_run(paths[0])) return show_run(paths[0]);
  return file_exists(paths[0] + "/config.json") ? show_huggingface(paths[0]) : show_runs(paths[0], page);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      argv[0], [&] { return run_command(argc, argv); }, 2);
}
