// Shows the contents of a safetensors file, of a run's folder, or of a GPT-2's folder. Also shows how two of these
// differ, and the outcomes of many runs.
#include <algorithm>
#include <cmath>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "engine/base/number_text.h"
#include "engine/base/table.h"
#include "engine/io/text/utf8_stream.h"
#include "examples/programs/open_model.h"
#include "examples/programs/options.h"
#include "train/report/compare.h"

using namespace mote;

namespace {

const char* const help =
    "  FILE        a safetensors file, such as a checkpoint of mote, or nanoGPT's ckpt.pt\n"
    "  FOLDER      the folder of a run (train --out_dir), or a folder of several runs; or the folder of a GPT-2, with\n"
    "              config.json and model.safetensors\n"
    "  PATH OTHER  how two files differ; a folder stands for its newest checkpoint or its model; of two runs also the\n"
    "              first step, tensor and element that differ\n\n"
    "Of a tensor it shows minimum, maximum, mean and norm (the root of the sum of squares) of the finite elements. It\n"
    "counts NaNs and infinities. The checksum is ok, WRONG (the file was changed, its elements are not shown), or "
    "none.\n"
    "Of two tensors it shows the largest |a - b| and the largest |a - b| / max(|a|, |b|). They are infinite where "
    "only\n"
    "one element is NaN or infinite, or where infinities have other signs.\n\n"
    "The exit code is 1 if a checksum is wrong, a run of several cannot be read, or the two differ. It is 2 after an\n"
    "error, such as a file that cannot be read. Otherwise it is 0.";

struct Request {
  std::string page, report;
  template <class V>
  void visit(V& v) {
    v("page", page, "FILE.html, into which the curves of the run or the runs in FOLDER are also written");
    v("report", report,
      "the folder of a run, whose report is written into it, also of a run that was killed or still trains");
  }
};

/// Makes a text from a file safe to print: characters that could control a terminal are replaced.
std::string shown(const std::string& text) { return readable_text(text, ""); }

/// The beginning of a long text, such as a vocabulary.
std::string shortened(const std::string& text) {
  constexpr std::size_t most = 200;
  if (text.size() <= most) return text;
  return valid_utf8(text.substr(0, most)) + " ... (" + grouped(static_cast<Index>(text.size())) + " bytes)";
}

/// Opens a safetensors file. Errors: those of SafetensorsFile; a file that is of another kind, as its first bytes show.
SafetensorsFile open(const std::string& path) {
  check_of_tensors(file_source(path));
  const FileReader file(path);
  char begin[9] = {};  // the length of the header, and its first character
  file.read(0, begin, static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), sizeof begin)));
  check(begin[8] == '{', path,
        " is not a safetensors file: inspect shows safetensors files, checkpoints of mote among them, ",
        "and the folders of runs and of GPT-2s");
  return SafetensorsFile(path);
}

/// Returns a row with the name and the text of each entry. An optimizer has a count of steps for each parameter. The
/// parameters of one optimizer that have the same count share one row.
std::vector<TableRow> gathered(const Metadata& all) {
  std::map<std::pair<std::string, std::string>, Index> times;
  for (const auto& [name, text] : all) {
    const std::size_t begin = name.find('.');
    const bool counted = name.ends_with(".step") && begin < name.size() - 5;
    ++times[{counted ? name.substr(0, begin) + ".*.step" : name, text}];
  }
  std::vector<TableRow> rows;
  for (const auto& [entry, n] : times)
    rows.push_back({shown(entry.first), shortened(shown(entry.second)) + (n > 1 ? " (" + grouped(n) + " times)" : "")});
  return rows;
}

/// Returns the minimum, maximum, mean and norm of the finite elements, the number of NaN, and the number of infinities.
TableRow statistics(const std::vector<double>& x) {
  double least = std::numeric_limits<double>::infinity(), most = -least, mean = 0, norm = 0;
  Index finite = 0, nan = 0, infinite = 0;
  for (const double v : x) {
    nan += std::isnan(v);
    infinite += std::isinf(v);
    if (!std::isfinite(v)) continue;
    const auto n = static_cast<double>(++finite);
    least = std::min(least, v);
    most = std::max(most, v);
    mean += v / n - mean / n;  // computed so that neither the mean nor the norm overflows
    norm = std::hypot(norm, v);
  }
  TableRow cells;
  for (const double value : {least, most, mean, norm}) cells.push_back(finite > 0 ? general_text(value, 4) : "-");
  cells.insert(cells.end(), {std::to_string(nan), std::to_string(infinite)});
  return cells;
}

bool is_nanogpt(const std::string& path) {
  return !is_folder(path) && path.ends_with(".pt") && kind_of_model(path) == ModelKind::nanogpt;
}

int show_file(const std::string& path) {
  const SafetensorsFile file = open(path);
  std::cout << shown(path) << ", " << grouped(static_cast<Index>(FileReader(path).size())) << " bytes\n\n"
            << table_text(gathered(file.metadata())) << (file.metadata().empty() ? "" : "\n");
  std::vector<TableRow> rows{{"tensor", "type", "shape", "min", "max", "mean", "norm", "NaN", "inf", "checksum"}};
  Index elements = 0, wrong = 0;
  for (const TensorEntry& t : file.tensors()) {
    const bool intact = file.read_bytes(t, [](const void*, std::size_t) {});
    elements += t.shape.numel();
    wrong += !intact;
    const TableRow cells = intact && readable(t.dtype) ? statistics(numbers_of(file, t)) : TableRow(6, "-");
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

bool is_run(const std::string& path) { return is_folder(path) && !newest_checkpoint(path).empty(); }

/// The file that a path stands for: for a run its newest checkpoint, for another folder model.safetensors.
std::string file_of(const std::string& path) {
  if (!is_folder(path)) return path;
  if (is_run(path)) return newest_checkpoint(path);
  check_no_run(path);
  return path + "/model.safetensors";
}

int compare(const std::string& path, const std::string& other) {
  const std::string equal_bits = "equal in every bit";
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
      const std::string how = file == &a ? tensor_difference(a, t, b) : tensor_difference(b, t, a);
      equal += how.empty();
      rows.push_back({shown(t.name), both(text_of(t.dtype), text_of((y ? y : x)->dtype)),
                      both(text_of(t.shape), text_of((y ? y : x)->shape)), how.empty() ? equal_bits : shown(how)});
    }
  }
  for (const TableRow& row : gathered(changed)) std::cout << row[0] << ": " << row[1] << "\n";
  const Index different = std::ssize(rows) - equal;
  std::cout << (changed.empty() ? "" : "\n") << table_text(rows) << "\ntensors: " << grouped(equal) << " " << equal_bits
            << ", " << grouped(different) << " not; metadata: " << grouped(std::ssize(changed)) << " differ\n";
  return different > 0 || !changed.empty() ? 1 : 0;
}

// Folders.

/// Prints settings in one line. Settings that are not given have the value "default" and are left out.
void print_fields(const std::string& title, const std::vector<Field>& list) {
  std::string line;
  for (const Field& f : list)
    if (f.value != "default") line += (line.empty() ? title + ": " : ", ") + shown(f.name + " = " + f.value);
  std::cout << line << "\n";
}

/// Prints the settings that a checkpoint has. Returns the table of the model's layers, or "" if the task or the model
/// class is not one of mote's.
std::string show_settings(const SafetensorsFile& checkpoint) {
  const std::string *const name = saved_setting(checkpoint, "general.task"), *const model =
                                                                                 checkpoint.find_metadata("class.name");
  const bool own_data = name && !is_task(*name), own_model = model && *model != "GPT";
  if (own_data || own_model) {
    std::cout << (name ? shown(*name) : "a run") << ": "
              << (own_data ? "data of a program's own" : "a model of class " + shown(*model) + ", not GPT")
              << "; only the program that made the run can go on with it\n\n";
    std::vector<Field> all;
    for (const auto& [key, text] : saved_settings(checkpoint)) all.push_back({key, text, "", ""});
    print_fields("settings", all);
    return "";
  }
  const RunSettings settings = read_settings(checkpoint);
  const std::unique_ptr<Task> task = settings.make_task();
  std::string description;
  try {
    description = task->description();
  } catch (const Error& e) {  // the text may have been moved
    description = e.what();
  }
  std::cout << settings.task << ": " << shown(description) << "\n\n";
  print_fields("run", fields(settings.run));
  print_fields("task", settings.task_fields());
  print_fields("model", settings.model_fields());
  print_fields("training", fields(settings.recipe));
  return "\n" + summary(settings.new_model(*task, Init::none(Generator())));
}

int show_runs(const std::string& folder, const std::vector<RunRecord>& runs, const std::string& page) {
  check(!runs.empty(), folder, " has no config.json: it is neither a run nor a model's folder, nor one of runs");
  const ReportTable table = runs_table(runs);
  std::vector<TableRow> rows{table.columns};
  rows.insert(rows.end(), table.rows.begin(), table.rows.end());
  for (TableRow& row : rows)
    for (std::string& cell : row) cell = shown(cell);
  std::cout << table_text(rows);
  int status = 0;
  for (const RunRecord& run : runs)
    if (!run.problem.empty()) {
      std::cout << "\n" << shown(run.name) << ": " << shown(run.problem) << "\n";
      status = 1;
    }
  if (page.empty()) return status;
  write_file(page, runs_html("mote: " + folder, runs));
  std::cout << "\ntheir curves are in " << shown(page) << "\n";
  return status;
}

/// Says what is wrong with the checksums of a file. Returns the exit code.
int show_damage(const SafetensorsFile& file) {
  try {
    check_checksums(file);
    return 0;
  } catch (const Error& e) {
    std::cout << "\n" << e.what() << "\n";
    return 1;
  }
}

int show_run(const std::string& folder, const std::string& page) {
  const SafetensorsFile newest = open(newest_checkpoint(folder));
  const std::string layers = show_settings(newest);
  std::cout << "\nnewest checkpoint: " << shown(newest.name()) << "\n\n";
  show_runs(folder, {read_run(folder)}, page);
  std::cout << layers;
  return show_damage(newest);
}

int show_huggingface(const std::string& folder) {
  check_no_run(folder);
  const std::string path = folder + "/config.json";
  const GPTConfig config = parse_huggingface_config(read_file(path, 1 << 20), path);
  print_fields("config", fields(config));
  std::cout << "\n" << summary(GPT(config, Init::none(Generator())));
  const std::string weights = file_of(folder);
  return file_exists(weights) ? show_damage(open(weights)) : 0;
}

/// Shows nanoGPT's ckpt.pt: the progress of the training, its settings, and the layers of its model.
int show_nanogpt(const std::string& path) {
  const TorchValue checkpoint = load_torch(path);
  for (const auto& [name, text] : field_values(checkpoint)) std::cout << shown(name) << " = " << shown(text) << "\n";
  for (const char* const part : {"model_args", "config"}) {
    std::vector<Field> all;
    if (const TorchValue* const dict = detail::find(checkpoint, part))
      for (const auto& [name, text] : field_values(*dict)) all.push_back({name, text, "", ""});
    print_fields(part, all);
  }
  std::cout << "\n" << summary(load_nanogpt(path));
  return 0;
}

int run_command(int argc, char** argv) {
  CommandLine line(argc, argv);
  std::vector<std::string> paths;
  for (const CommandLine::Given& g : line.given)
    if (g.is_word()) paths.push_back(g.name);
  std::erase_if(line.given, [](const CommandLine::Given& g) { return g.is_word(); });
  Request request;
  Options options(
      "Shows what is in a file of tensors, in the folder of a run, or in the folder of a GPT-2. Or compares two of "
      "them.");
  options.usage = "FILE | FOLDER [--page FILE] | --report FOLDER | PATH OTHER";
  options.add("options", request);
  options.note = help;
  if (!options.parse(line)) return 0;
  line.check_paths({"page", "report"});
  const std::string& page = request.page;
  if (!request.report.empty()) {
    if (!paths.empty() || !page.empty())
      throw UsageError("--report FOLDER writes a report and shows nothing: without other paths and --page");
    write_report(request.report);
    std::cout << "the report is " << shown(request.report) << "/report.html\n";
    return 0;
  }
  if (paths.empty() || paths.size() > 2)
    throw UsageError("give one file or folder, or two to compare (--help says more)");
  const bool of_runs =
      paths.size() == 1 && is_folder(paths[0]) && (is_run(paths[0]) || !file_exists(paths[0] + "/config.json"));
  if (!page.empty() && !of_runs) throw UsageError("--page is for the folder of one run or of several runs");
  if (paths.size() == 2) return compare(paths[0], paths[1]);
  if (is_nanogpt(paths[0])) return show_nanogpt(paths[0]);
  if (!is_folder(paths[0])) return show_file(paths[0]);
  if (is_run(paths[0])) return show_run(paths[0], page);
  if (!of_runs) return show_huggingface(paths[0]);
  return show_runs(paths[0], read_runs(paths[0]), page);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      argv[0], [&] { return run_command(argc, argv); }, 2);
}
