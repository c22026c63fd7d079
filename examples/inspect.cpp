// What is in a file of tensors, in the folder of a run or in that of a GPT-2; how two files differ.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "engine/io/files/npy.h"
#include "engine/io/files/npy_header.h"
#include "engine/io/text/utf8_stream.h"
#include "examples/program.h"
#include "examples/saved_run.h"
#include "models/gpt_files.h"

using namespace mote;

namespace {

const char* const help =
    "Shows what is in a file of tensors, in the folder of a run, or in that of a GPT-2; or how two files differ.\n\n"
    "usage: %s FILE | FOLDER | PATH OTHER\n\n"
    "  FILE        safetensors (checkpoints of mote included) or .npy\n"
    "  FOLDER      a run (train --out_dir), or config.json and model.safetensors of a GPT-2\n"
    "  PATH OTHER  how two files differ; a folder stands for its newest checkpoint or its model\n\n"
    "Of a tensor: minimum, maximum, mean and norm (the root of the sum of squares) of its finite elements, how many "
    "are\n"
    "NaN or infinite, and its checksum: ok, WRONG (the file was changed; what it holds is not shown), or none.\n"
    "Of two tensors: the largest |a - b|, and the largest |a - b| / max(|a|, |b|); infinite where one of them alone "
    "is\n"
    "NaN or infinite, or both are infinities of other signs.\n\n"
    "Exit code: 0; 1: a checksum is wrong, or the two differ; 2: trouble, such as a file that cannot be read.\n";

/// Text from a file as a terminal may get it.
std::string shown(const std::string& text) { return readable_text(text, ""); }

/// 1234567 as 1,234,567.
std::string grouped(Index n) {
  std::string text = std::to_string(n);
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, 1, ',');
  return text;
}

/// A text in a file's metadata, and how many of this form are alike: an optimizer counts its steps for each parameter.
struct Text {
  std::string name, text;
  Index times = 1;
  std::string line() const { return shown(text) + (times > 1 ? " (" + grouped(times) + " times)" : ""); }
};
std::vector<Text> gathered(const Metadata& all) {
  std::vector<Text> list;
  for (const auto& [name, text] : all) {
    const std::size_t begin = name.find('.'), end = name.rfind(".step");
    const bool counted = begin < end && end + 5 == name.size();
    const Text one{counted ? name.substr(0, begin) + ".*.step" : name, text};
    const auto found = std::find_if(list.begin(), list.end(), [&](const Text& other) {
      return counted && other.name == one.name && other.text == one.text;
    });
    if (found == list.end())
      list.push_back(one);
    else
      ++found->times;
  }
  return list;
}

/// One tensor of a file, without its elements.
struct Item {
  std::string name, dtype;
  Shape shape;
  bool readable;  ///< whether mote knows the type
};

/// A file of tensors, of either format. One tensor at a time is in memory.
class TensorFile {
 public:
  virtual ~TensorFile() = default;
  const std::string& path() const { return path_; }
  const std::vector<Item>& items() const { return items_; }
  const Metadata& metadata() const { return metadata_; }  ///< without checksums
  virtual AnyArray read(std::size_t i) const = 0;
  /// The elements as they lie in the file. False: their checksum is wrong.
  virtual bool bytes(std::size_t i, std::string& all) const = 0;
  virtual bool has_checksums() const { return false; }
  virtual bool intact(std::size_t) const { return true; }  ///< its checksum is right, or there is none

 protected:
  explicit TensorFile(std::string path) : path_(std::move(path)) {}
  std::string path_;
  std::vector<Item> items_;
  Metadata metadata_;
};

class Safetensors : public TensorFile {
 public:
  explicit Safetensors(const std::string& path) : TensorFile(path), file_(path) {
    for (const TensorEntry& t : file_.tensors())
      items_.push_back({t.name, text_of(t.dtype), t.shape, mote::readable(t.dtype)});
    metadata_ = file_.metadata();
  }
  AnyArray read(std::size_t i) const override {
    const TensorEntry& t = file_.tensors()[i];
    switch (t.dtype) {
      case DType::boolean:
        return file_.mask(t);
      case DType::f16:
      case DType::bf16:
      case DType::f32:
      case DType::f64:
        return file_.array(t);
      default:
        return file_.int_array(t);
    }
  }
  bool bytes(std::size_t i, std::string& all) const override {
    all.clear();
    all.reserve(static_cast<std::size_t>(file_.tensors()[i].end - file_.tensors()[i].begin));
    return file_.read_bytes(file_.tensors()[i],
                            [&](const void* data, std::size_t n) { all.append(static_cast<const char*>(data), n); });
  }
  bool has_checksums() const override { return file_.has_checksums(); }
  bool intact(std::size_t i) const override {
    return file_.read_bytes(file_.tensors()[i], [](const void*, std::size_t) {});
  }

 private:
  SafetensorsFile file_;
};

class Npy : public TensorFile {
 public:
  explicit Npy(const std::string& path) : TensorFile(path), file_(file_source(path)) {
    header_ = detail::read_npy_header(file_);
    items_.push_back({"array", text_of(header_.type), header_.shape, true});
    if (header_.fortran_order) metadata_.emplace_back("order", "Fortran");
  }
  AnyArray read(std::size_t) const override { return load_npy(file_); }
  bool bytes(std::size_t, std::string& all) const override {
    all.resize(static_cast<std::size_t>(file_.size - header_.data));
    file_.read(header_.data, all.data(), all.size());
    return true;
  }

 private:
  ByteSource file_;
  detail::NpyHeader header_;
};

std::unique_ptr<TensorFile> open(const std::string& path) {
  constexpr char magic[] = "\x93NUMPY";
  char begin[6] = {};
  const FileReader file(path);
  file.read(0, begin, static_cast<std::size_t>(std::min<std::uint64_t>(file.size(), sizeof begin)));
  if (std::memcmp(begin, magic, sizeof begin) == 0) return std::make_unique<Npy>(path);
  return std::make_unique<Safetensors>(path);
}

/// Calls see(x) with every element as a double.
template <class See>
void each(const AnyArray& any, const See& see) {
  std::visit(
      [&](const auto& x) {
        const auto whole = x.contiguous();
        for (Index i = 0; i < whole.numel(); ++i) see(static_cast<double>(whole.data()[i]));
      },
      any);
}

struct Statistics {
  double min = 0, max = 0, mean = 0, norm = 0;
  Index finite = 0, nan = 0, infinite = 0;
};

Statistics statistics(const AnyArray& x) {
  Statistics s;
  s.min = std::numeric_limits<double>::infinity(), s.max = -s.min;
  each(x, [&](double v) {
    s.nan += std::isnan(v), s.infinite += std::isinf(v), s.finite += std::isfinite(v);
    if (std::isfinite(v)) s.min = std::min(s.min, v), s.max = std::max(s.max, v);
  });
  if (s.finite == 0) return s;
  const double largest = std::max(std::abs(s.min), std::abs(s.max)), unit = largest > 0 ? largest : 1;
  double sum = 0, squares = 0;  // in this unit, so that neither grows beyond a double
  each(x, [&](double v) {
    if (!std::isfinite(v)) return;
    sum += v / unit;
    squares += v / unit * (v / unit);
  });
  s.mean = sum / static_cast<double>(s.finite) * unit;
  s.norm = std::sqrt(squares) * unit;
  return s;
}

/// The width of the columns of names and shapes.
struct Columns {
  int name = 6, shape = 5;
  void widen(const Item& item) {
    name = std::max(name, static_cast<int>(item.name.size()));
    shape = std::max(shape, static_cast<int>(text_of(item.shape).size()));
  }
  void print(const std::string& first, const std::string& dtype, const std::string& form) const {
    std::printf("%-*s  %-5s  %-*s", name, shown(first).c_str(), dtype.c_str(), shape, form.c_str());
  }
};

/// One line of the table. Returns whether the checksum is right.
bool print_row(const TensorFile& file, std::size_t i, const Columns& columns) {
  const Item& item = file.items()[i];
  columns.print(item.name, item.dtype, text_of(item.shape));
  if (file.has_checksums() && !file.intact(i)) {
    std::printf("  %11s %11s %11s %11s %7s %7s  WRONG\n", "-", "-", "-", "-", "-", "-");
    return false;
  }
  const char* const sum = file.has_checksums() ? "ok" : "none";
  if (!item.readable) {
    std::printf("  %11s %11s %11s %11s %7s %7s  %s\n", "-", "-", "-", "-", "-", "-", sum);
    return true;
  }
  const Statistics s = statistics(file.read(i));
  if (s.finite == 0)
    std::printf("  %11s %11s %11s %11s", "-", "-", "-", "-");
  else
    std::printf("  %11.4g %11.4g %11.4g %11.4g", s.min, s.max, s.mean, s.norm);
  std::printf(" %7lld %7lld  %s\n", static_cast<long long>(s.nan), static_cast<long long>(s.infinite), sum);
  return true;
}

int show_file(const std::string& path) {
  const std::unique_ptr<TensorFile> file = open(path);
  std::printf("%s, %s bytes\n\n", shown(path).c_str(), grouped(static_cast<Index>(FileReader(path).size())).c_str());
  Columns columns;
  const std::vector<Text> texts = gathered(file->metadata());
  std::size_t widest = 0;
  for (const Text& t : texts) widest = std::max(widest, t.name.size());
  for (const Text& t : texts)
    std::printf("%-*s  %s\n", static_cast<int>(widest), shown(t.name).c_str(), t.line().c_str());
  if (!texts.empty()) std::printf("\n");
  for (const Item& item : file->items()) columns.widen(item);
  columns.print("tensor", "type", "shape");
  std::printf("  %11s %11s %11s %11s %7s %7s  %s\n", "min", "max", "mean", "norm", "NaN", "inf", "checksum");
  Index elements = 0, wrong = 0;
  for (std::size_t i = 0; i < file->items().size(); ++i) {
    elements += file->items()[i].shape.numel();
    wrong += !print_row(*file, i, columns);
    if (!std::cout || std::ferror(stdout)) flush_output();
  }
  std::printf("\ntensors: %s, elements: %s, checksums: ", grouped(static_cast<Index>(file->items().size())).c_str(),
              grouped(elements).c_str());
  if (wrong > 0)
    std::printf("%s WRONG, the file was changed\n", grouped(wrong).c_str());
  else
    std::printf("%s\n", file->has_checksums() ? "all ok" : "none");
  return wrong > 0 ? 1 : 0;
}

// Differences.

struct Difference {
  double absolute = 0, relative = 0;
  Index count = 0;  ///< of elements that differ
};

template <class A, class B>
Difference difference(const A& a, const B& b) {
  const auto x = a.contiguous();
  const auto y = b.contiguous();
  Difference d;
  for (Index i = 0; i < x.numel(); ++i) {
    const double u = static_cast<double>(x.data()[i]), v = static_cast<double>(y.data()[i]);
    if (u == v || (std::isnan(u) && std::isnan(v))) continue;
    ++d.count;
    const double away = std::abs(u - v);
    const bool finite = std::isfinite(u) && std::isfinite(v);
    d.absolute = std::max(d.absolute, finite ? away : std::numeric_limits<double>::infinity());
    d.relative = std::max(d.relative,
                          finite ? away / std::max(std::abs(u), std::abs(v)) : std::numeric_limits<double>::infinity());
  }
  return d;
}

/// One line about a tensor that both files have. Returns whether it is equal in every bit.
bool print_difference(const TensorFile& a, std::size_t i, const TensorFile& b, std::size_t j, const Columns& columns) {
  const Item &x = a.items()[i], &y = b.items()[j];
  const auto both = [](const std::string& s, const std::string& t) { return s == t ? s : s + " | " + t; };
  columns.print(x.name, both(x.dtype, y.dtype), both(text_of(x.shape), text_of(y.shape)));
  std::string bytes, others;
  for (const TensorFile* const changed : {a.bytes(i, bytes) ? nullptr : &a, b.bytes(j, others) ? nullptr : &b})
    if (changed) {
      std::printf("  checksum WRONG, %s was changed\n", shown(changed->path()).c_str());
      return false;
    }
  const bool alike = x.shape == y.shape;
  if (alike && x.dtype == y.dtype && bytes == others) {
    std::printf("  equal in every bit\n");
    return true;
  }
  if (!alike || !x.readable || !y.readable) {
    std::printf(alike ? "  different\n" : "  other shapes\n");
    return false;
  }
  const AnyArray first = a.read(i), second = b.read(j);
  const Difference d = std::visit([](const auto& u, const auto& v) { return difference(u, v); }, first, second);
  if (d.count == 0)
    std::printf("  equal as numbers, not in every bit\n");
  else
    std::printf("  largest difference %.3g, relative %.3g, in %s of %s elements\n", d.absolute, d.relative,
                grouped(d.count).c_str(), grouped(x.shape.numel()).c_str());
  return false;
}

/// Metadata that differ, one per line. Returns how many.
Index compare_metadata(const TensorFile& a, const TensorFile& b) {
  std::map<std::string, std::pair<const std::string*, const std::string*>> all;
  for (const auto& [name, text] : a.metadata()) all[name].first = &text;
  for (const auto& [name, text] : b.metadata()) all[name].second = &text;
  Metadata differences;
  for (const auto& [name, texts] : all) {
    const auto& [x, y] = texts;
    if (x && y && *x == *y) continue;
    differences.emplace_back(name, (x ? *x : "(none)") + " | " + (y ? *y : "(none)"));
  }
  for (const Text& t : gathered(differences)) std::printf("%s: %s\n", shown(t.name).c_str(), t.line().c_str());
  if (!differences.empty()) std::printf("\n");
  return static_cast<Index>(differences.size());
}

int compare(const std::string& path, const std::string& other) {
  const std::unique_ptr<TensorFile> a = open(path), b = open(other);
  std::printf("%s | %s\n\n", shown(path).c_str(), shown(other).c_str());
  const Index settings = compare_metadata(*a, *b);
  std::map<std::string, std::size_t> there;
  Columns columns;
  for (std::size_t j = 0; j < b->items().size(); ++j) there[b->items()[j].name] = j, columns.widen(b->items()[j]);
  for (const Item& item : a->items()) columns.widen(item);
  Index equal = 0, different = 0;
  for (std::size_t i = 0; i < a->items().size(); ++i) {
    const Item& item = a->items()[i];
    if (const auto found = there.find(item.name); found != there.end()) {
      const bool same = print_difference(*a, i, *b, found->second, columns);
      equal += same, different += !same;
      there.erase(found);
    } else {
      columns.print(item.name, item.dtype, text_of(item.shape));
      std::printf("  only in %s\n", shown(path).c_str());
      ++different;
    }
    if (!std::cout || std::ferror(stdout)) flush_output();
  }
  for (const Item& item : b->items()) {
    if (!there.contains(item.name)) continue;
    columns.print(item.name, item.dtype, text_of(item.shape));
    std::printf("  only in %s\n", shown(other).c_str());
    ++different;
  }
  std::printf("\ntensors: %s equal in every bit, %s not; metadata: %s differ\n", grouped(equal).c_str(),
              grouped(different).c_str(), grouped(settings).c_str());
  return different + settings > 0 ? 1 : 0;
}

// Folders.

bool is_folder(const std::string& path) {
  detail::FileStatus status;
  return detail::status_of(path.c_str(), status) == 0 && status.kind == detail::FileKind::folder;
}

std::string config_text(const std::string& folder) {
  const std::string path = folder + "/config.json";
  check(file_exists(path), folder, " has no config.json: it is neither a run nor a model's folder");
  return read_file(path, 1 << 20);
}
bool is_run(const std::string& folder) { return !newest_checkpoint(folder).empty(); }

/// The file that a path stands for.
std::string file_of(const std::string& path) {
  if (!is_folder(path)) return path;
  return is_run(path) ? checkpoint_of(path) : path + "/model.safetensors";
}

/// RunSettings as lines of text; without those that are not given, which say "default".
void print_fields(const std::string& title, const std::vector<Field>& list) {
  std::string line = title + ":";
  for (const Field& f : list) {
    if (f.value == "default") continue;
    const std::string item = shown(" " + f.name + " = " + f.value);
    if (line.size() + item.size() > 110) {
      std::printf("%s\n", line.c_str());
      line = std::string(title.size() + 1, ' ');
    }
    line += item + (&f == &list.back() ? "" : ",");
  }
  if (line.ends_with(',')) line.pop_back();
  std::printf("%s\n", line.c_str());
}

/// A number that a checkpoint keeps, or "?".
std::string kept(const std::string& checkpoint, const std::string& name) {
  const SafetensorsFile file(checkpoint);
  const std::string* const text = file.find_metadata(name);
  return text ? shown(*text) : "?";
}

/// The last lines of a text.
std::string last_lines(const std::string& text, int count) {
  std::size_t at = text.size();
  for (int n = 0; n <= count && at != std::string::npos; ++n)
    at = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
  return at == std::string::npos ? text : text.substr(at + 1);
}

int show_run(const std::string& folder) {
  const std::string newest = newest_checkpoint(folder), best = best_checkpoint(folder), log = folder + "/log.jsonl";
  const RunSettings settings = read_settings(SafetensorsFile(newest));
  const std::unique_ptr<Task> task = settings.make_task();
  std::string description;
  try {
    description = task->description();
  } catch (const Error& e) {  // a text that lies elsewhere by now
    description = e.what();
  }
  std::printf("%s: %s\n\n", settings.task.c_str(), shown(description).c_str());
  print_fields("run", fields(settings.run));
  print_fields("task", settings.task_fields());
  print_fields("model", settings.model_fields());
  print_fields("training", fields(settings.recipe));
  std::printf("\nnewest checkpoint: %s, after %s of %lld steps\n", newest.c_str(), kept(newest, "steps").c_str(),
              static_cast<long long>(settings.recipe.max_iters));
  if (!best.empty())
    std::printf("best checkpoint: %s, after %s steps: loss %s on held-out batches\n", best.c_str(),
                kept(best, "steps").c_str(), kept(best, "best_score").c_str());
  if (file_exists(log)) {
    constexpr std::uint64_t most = 4096;
    const FileReader reader(log);
    std::string end(static_cast<std::size_t>(std::min(reader.size(), most)), '\0');
    reader.read(reader.size() - end.size(), end.data(), end.size());
    std::printf("\nlast lines of %s\n%s", shown(log).c_str(), readable_text(last_lines(end, 3)).c_str());
  }
  std::printf("\n%s", summary(settings.new_model(*task, Init::none(Generator()))).c_str());
  return 0;
}

int show_huggingface(const std::string& folder) {
  const GPTConfig config = parse_huggingface_config(config_text(folder), folder + "/config.json");
  print_fields("config", fields(config));
  std::printf("\n%s", summary(GPT(config, Init::none(Generator()))).c_str());
  return 0;
}

int run_command(int argc, char** argv) {
  std::vector<std::string> paths;
  for (int i = 1; i < argc; ++i) {
    const std::string text = argv[i];
    if (text == "--help" || text == "-h") {
      std::printf(help, argv[0]);
      return 0;
    }
    if (text.starts_with("-")) throw UsageError("unknown option " + text + " (--help explains what there is)");
    paths.push_back(text);
  }
  if (paths.empty() || paths.size() > 2)
    throw UsageError("give one file or folder, or two to compare (--help says more)");
  if (paths.size() == 2) return compare(file_of(paths[0]), file_of(paths[1]));
  if (!is_folder(paths[0])) return show_file(paths[0]);
  return is_run(paths[0]) ? show_run(paths[0]) : show_huggingface(paths[0]);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(
      argv[0], [&] { return run_command(argc, argv); }, 2);
}
