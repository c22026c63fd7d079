// Trains a model end to end on a toy task and shows what it learned: the falling loss, answers to unseen questions, and
// what one attention head looks at.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

#include "examples/toy_run.h"
#include "nn/attention_weights.h"
#include "train/evaluate.h"
#include "train/progress.h"
#include "train/stop_signal.h"

using namespace mote;
using namespace toy_run;

namespace {

/// Command-line options that are no settings of the run.
struct Command {
  std::string out, resume;
  template <class V>
  void visit(V& v) {
    v("out", out, "a folder for checkpoints, log and settings of a new run; not given: nothing is kept");
    v("resume", resume, "the folder of a run to go on with; other options may then be left out");
  }
};

/// Reports a run as it proceeds: the first loss beside ln V, then a progress line.
class Narrator {
 public:
  explicit Narrator(Index vocab) : vocab_(vocab), progress_(std::cout, isatty(STDOUT_FILENO) != 0) {}
  /// Errors: nobody receives the report.
  void operator()(const StepReport& report) {
    if (report.step == 0) {
      const long long ids = vocab_;
      std::printf("first loss %.4f; guessing among %lld ids costs ln %lld = %.4f\n", report.loss, ids, ids,
                  math::log(static_cast<double>(vocab_)));
      flush_output();
    }
    progress_.update(report.step + 1, report.steps, report.loss, report.learning_rate);
    if (!std::cout) flush_output();
  }
  void finish() { progress_.finish(); }

 private:
  Index vocab_;
  Progress progress_;
};

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// A run that is kept in a folder: what it depends on, its log, and where it stands.
class KeptRun {
 public:
  KeptRun(const std::string& path, const Command& command, const RunSettings& settings, Model& model,
          Optimizer& optimizer, const Generator& data)
      : folder_(path, settings.keeping.keep) {
    run_.add("model", model.module());
    run_.add("optimizer", optimizer);
    run_.add("data", data);
    run_.add("steps", steps);
    run_.add("log_bytes", log_bytes_);
    run_.add("best_score", folder_.best_score);
    run_.require("settings", fixed_settings(settings));
    const std::string newest = newest_checkpoint(path), config = config_json(settings);
    if (command.resume.empty()) {
      check(newest.empty(), "there is a run in ", path, ": go on with it by --resume ", path,
            ", or choose another folder");
      for (const char* const name : {"config.json", "log.jsonl", "rates.jsonl"})
        check(!file_exists(folder_.file(name)), path, " already has a ", name, ": choose another folder",
              ", or go on by --resume ", path, " if it is a run's");
    } else {
      check(!newest.empty() || file_exists(folder_.file("config.json")), "there is no run in ", path);
      if (newest.empty())
        std::cout << "there is no checkpoint in " << path << " yet: the run begins\n";
      else
        run_.load(newest);
      const Index wanted = settings.recipe.steps;
      checked_usage([&] {
        check(steps <= wanted, "the run in ", path, " has taken ", steps, " steps, which is more than --steps ",
              wanted);
      });
    }
    write_file(folder_.file("config.json"), config);
    if (const std::uint64_t there = file_size(folder_.file("log.jsonl"));
        there < static_cast<std::uint64_t>(log_bytes_)) {
      std::cout << "warning: log.jsonl has " << there << " bytes instead of " << log_bytes_
                << " or more: it goes on from "
                << "here without the steps that are missing\n";
      log_bytes_ = static_cast<Index>(there);
    }
    log_.emplace(folder_.file("log.jsonl"), static_cast<std::uint64_t>(log_bytes_));
    rates_.emplace(folder_.file("rates.jsonl"), file_size(folder_.file("rates.jsonl")));
  }

  /// A line of log.jsonl, which has no clock in it: a run that was interrupted writes the same bytes.
  void log(const StepReport& report) {
    log_->append(text_of(Json::object({{"step", report.step},
                                       {"loss", report.loss},
                                       {"learning_rate", report.learning_rate},
                                       {"grad_norm", report.grad_norm}})));
  }
  /// With a score where a run that nobody stopped would have one, too.
  void save(Index done, std::optional<double> score) {
    steps = done;
    log_->sync();
    log_bytes_ = static_cast<Index>(log_->size());
    folder_.save(run_, done, score);
    const double now = clock_.seconds();
    const bool scored = score && std::isfinite(*score);
    rates_->append(
        text_of(Json::object({{"step", done}, {"seconds", now}, {"score", scored ? Json(*score) : Json()}})));
  }
  const std::string& path() const { return folder_.path(); }

  Index steps = 0;  ///< taken so far

 private:
  static std::uint64_t file_size(const std::string& path) { return file_exists(path) ? FileReader(path).size() : 0; }

  RunFolder folder_;
  Checkpoint run_;
  Index log_bytes_ = 0;
  std::optional<LogFile> log_, rates_;
  Stopwatch clock_;
};

/// Trains from where the run stands. A signal ends the program, once the run is saved.
void train(Model& model, const Task& task, const RunSettings& settings, Optimizer& optimizer, FitOptions options,
           const Generator& data, std::optional<KeptRun>& kept) {
  const Recipe& recipe = settings.recipe;
  std::cout << describe(optimizer.groups()) << "\n";
  Narrator narrator(task.vocab_size());
  const StopSignal stop;
  options.on_step = [&](const StepReport& report) {
    narrator(report);
    if (kept) kept->log(report);
    return StopSignal::received() == 0;
  };
  options.on_warning = [](const std::string& text) { std::cout << "warning: " << text << "\n"; };
  std::vector<Batch> held_out;  // fixed, from a stream of their own: looking changes nothing
  if (kept) {
    const Generator own(settings.general.seed + 3);
    for (int i = 0; i < 4; ++i) held_out.push_back(task.batch(recipe.batch_size, Split::test, own));
    options.first_step = kept->steps;
    const Index every = options.save_every = settings.keeping.save_every;
    options.save = [&, every](Index steps) {
      std::optional<double> score;
      if (steps == options.steps || (every > 0 && steps % every == 0))
        score = mean_loss(model.module(), held_out, [&](const Batch& batch) { return model.loss(batch); });
      kept->save(steps, score);
    };
    if (kept->steps > 0) std::cout << "going on after step " << kept->steps << " of " << options.steps << "\n";
  }
  const Stopwatch clock;
  fit(
      optimizer, [&](Index) { return model.loss(task.batch(recipe.batch_size, Split::train, data)); }, options);
  narrator.finish();
  if (StopSignal::received() != 0) {
    if (kept) std::cout << "stopped after step " << kept->steps << "; go on with --resume " << kept->path() << "\n";
    flush_output();
    kept.reset();  // its lock is removed
    end_by_signal(StopSignal::received());
  }
  std::printf("trained %lld steps in %.1f s\n\n", static_cast<long long>(options.steps - options.first_step),
              clock.seconds());
  std::fflush(stdout);
}

/// How many of `total` questions the model answers without a single wrong symbol; the first `show` are printed.
Index count_exact(Model& model, const Task& task, Index total, const Generator& random, Index show) {
  Index exact = 0;
  for (Index done = 0; done < total;) {
    const Index n = std::min<Index>(250, total - done);
    const Questions q = task.questions(n, Split::test, random);
    const IntArray given = model.answer(q.prompts, q.answers.shape()[1]);
    for (Index b = 0; b < n; ++b) {
      const bool right = q.right(b, given);
      exact += right;
      if (done + b < show)
        std::cout << "  question " << task.question_text(row_of(q.prompts, b)) << "   answer "
                  << task.text(row_of(given, b)) << (right ? "   right\n" : "   wrong\n");
    }
    done += n;
  }
  return exact;
}

/// The attention weights of each layer on one example, [H, T, T] per layer.
std::vector<Array> attention(Model& model, const Batch& example) {
  const NoGrad no_grad;
  const Evaluation evaluation(model.module());
  const AttentionWeights seen;
  model.loss(example);
  std::vector<Array> layers;
  for (const AttentionMap& map : seen.maps()) layers.push_back(map.weights.select(0, 0));
  return layers;
}

/// The head that attends most to the positions that determine the next token, on one example; nothing if the task has
/// no such positions or the model no attention.
void show_head(Model& model, const Task& task, const std::string& kind, const Generator& random) {
  const Batch example = task.batch(1, Split::test, random);
  const std::vector<Index> ids = row_of(example.ids, 0);
  std::vector<std::pair<Index, Index>> looks;  // from, to
  for (Index t = 0; t < static_cast<Index>(ids.size()); ++t)
    if (const Index at = task.looks_at(ids, t); at >= 0) looks.emplace_back(t, at);
  if (looks.empty()) return;
  double best = -1;
  std::size_t best_layer = 0;
  Index best_head = 0;
  const std::vector<Array> layers = attention(model, example);
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    for (Index head = 0; head < layers[layer].shape()[0]; ++head) {
      double share = 0;
      for (const auto& [from, to] : looks) share += static_cast<double>(layers[layer].at({head, from, to}));
      share /= static_cast<double>(looks.size());
      if (share <= best) continue;
      best = share;
      best_layer = layer;
      best_head = head;
    }
  if (best < 0) return;
  std::vector<std::string> labels;
  for (const Index id : ids) labels.push_back(task.word(id));
  char percent[32];
  std::snprintf(percent, sizeof percent, "%.0f %%", 100 * best);
  const Array& heads = layers[best_layer];
  std::cout << "\nlayer " << best_layer << " (0 is the first), head " << best_head + 1 << " of " << heads.shape()[0]
            << ", on one " << kind << " sequence. A row is a query, a column a key;\n"
            << "'.' is a weight near 0, '@' one near 1, blank what lies in the future.\n"
            << task.looks_text(percent) << ":\n"
            << attention_text(heads.select(0, best_head), labels);
}

/// What the settings describe.
struct Setup {
  std::unique_ptr<Task> task;
  std::unique_ptr<Model> model;
  FitOptions fit;
  std::unique_ptr<Optimizer> optimizer;
};

/// Errors: settings that do not go together.
Setup set_up(const Command& command, const RunSettings& settings) {
  const Index seed = settings.general.seed;
  check(settings.general.sequences >= 1, "sequences ", settings.general.sequences, " must be at least 1");
  const auto [save_every, keep] = settings.keeping;
  check(keep >= 1, "keep ", keep, " must be at least 1");
  check(save_every >= 0, "save_every ", save_every, " must be at least 0");
  check(command.out.empty() || command.resume.empty(),
        "--out begins a run and --resume goes on with one: give one of them");
  check(seed >= 0 && seed <= 1'000'000'000'000'000'000, "seed ", seed, " must be 0 to 1000000000000000000");
  settings.check_typed();
  Setup s;
  s.task = settings.new_task();
  s.model = settings.new_model(*s.task, Generator(seed));
  s.fit = fit_options(settings.recipe);
  s.optimizer = make_optimizer(settings.recipe, s.model->module());
  return s;
}

int run(const Command& command, const RunSettings& settings) {
  const auto [task, model, options, optimizer] = checked_usage([&] { return set_up(command, settings); });
  const Generator data(settings.general.seed + settings.recipe.data_seed), fresh(settings.general.seed + 2);
  const std::string& folder = command.resume.empty() ? command.out : command.resume;
  std::optional<KeptRun> kept;
  if (!folder.empty()) kept.emplace(folder, command, settings, *model, *optimizer, data);
  std::cout << settings.general.task << ": " << task->description() << "\n\n" << summary(model->module()) << "\n";
  train(*model, *task, settings, *optimizer, options, data, kept);
  const std::string kind = task->holds_out() ? "held-out" : "fresh";
  std::cout << "three " << kind << " questions:\n";
  const Index total = settings.general.sequences, exact = count_exact(*model, *task, total, fresh, 3);
  std::printf("exact match on %lld %s sequences: %lld (%.1f %%)\n", static_cast<long long>(total), kind.c_str(),
              static_cast<long long>(exact), 100.0 * static_cast<double>(exact) / static_cast<double>(total));
  std::fflush(stdout);
  show_head(*model, *task, kind, fresh);
  return 0;
}

int list_tasks() {
  for (const std::string& name : task_names())
    std::cout << name << std::string(12 - std::min<std::size_t>(11, name.size()), ' ') << make_task(name)->description()
              << "\n";
  return 0;
}

/// The settings that a command line begins with: those of the run to go on with, or a task's defaults.
RunSettings first_settings(int argc, char** argv) {
  const std::string resume = Options::peek(argc, argv, "--resume", "");
  if (!resume.empty()) return read_config(resume + "/config.json");
  return RunSettings(Options::peek(argc, argv, "--task", "copy"), Options::peek(argc, argv, "--model", ""));
}

/// Errors: an option that contradicts the run to go on with.
void check_unchanged(const RunSettings& before, const RunSettings& now, const std::string& folder) {
  const std::vector<Field> old = fixed_settings(before), wanted = fixed_settings(now);
  for (const Field& f : wanted)
    for (const Field& g : old)
      check(f.name != g.name || f.value == g.value, "--", f.name, " ", f.value, " contradicts the run in ", folder,
            ", which has ", g.value, " (--steps, --save_every, --keep and --sequences may change)");
}

/// Errors: config.json differs from what the newest checkpoint was saved with. Before a model is built, for it may say
/// anything.
void check_belongs(const RunSettings& settings, const std::string& folder) {
  const std::string newest = newest_checkpoint(folder);
  if (newest.empty()) return;
  const SafetensorsFile file(newest);
  for (const Field& f : fixed_settings(settings)) {
    const std::string* const saved = file.find_metadata("settings." + f.name);
    check(saved && *saved == f.value, folder, "/config.json has ", f.name, " ", f.value, ", and ", newest,
          saved ? " was saved with " + *saved : " does not have it");
  }
}

int run_command(int argc, char** argv) {
  const char* const about = "Trains a small decoder language model on a toy task and shows what it learned.";
  Command command;
  const std::string asked = Options::peek(argc, argv, "--task", "");
  const bool only_help = argc == 2 && (argv[1] == std::string("--help") || argv[1] == std::string("-h"));
  if (only_help || asked == "list") {
    General general;
    Keeping keeping;
    Options options(about);
    options.add("general options", general);
    options.add("this program", command);
    options.add("checkpoints", keeping);
    options.note("--task NAME --help shows the options of a task, of its model and of its training, with defaults.");
    if (!options.parse(argc, argv)) return 0;
    return list_tasks();
  }
  for (const char* const option : {"--out", "--resume"})
    if (Options::peek(argc, argv, option, "?").empty()) throw UsageError(std::string(option) + " needs a folder");
  RunSettings settings = checked_usage([&] { return first_settings(argc, argv); });
  const RunSettings before = settings;
  const std::string task = settings.general.task, model = settings.general.model;
  Options options(about);
  options.add("general options", settings.general);
  options.add("this program", command);
  options.add("checkpoints", settings.keeping);
  const auto add = [&](const std::string& title, const std::string& group, std::size_t place) {
    options.add(
        title, [&settings, place] { return settings.groups()[place].second; },
        [&settings, group](const std::string& name, const std::string& text) {
          settings.set(group, name, text);
          if (group == "model") settings.typed.emplace_back(name, text);
        });
  };
  add("--task " + task, "task", 2);
  add("--model " + model, "model", 3);
  add("training", "training", 4);
  options.context(" for --task " + task + " and --model " + model);
  if (!options.parse(argc, argv)) return 0;
  if (!command.resume.empty()) checked_usage([&] { check_unchanged(before, settings, command.resume); });
  if (!command.resume.empty()) check_belongs(before, command.resume);
  return run(command, settings);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
