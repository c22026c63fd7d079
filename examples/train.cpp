// Trains a model end to end on a task and shows what it learned: the falling loss, answers to unseen questions, what
// its heads look at; keeps it in a folder, with a report.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <memory>
#include <optional>

#include "examples/kept_run.h"
#include "examples/report_run.h"
#include "examples/toy_run.h"
#include "examples/watch_run.h"
#include "train/ema.h"
#include "train/progress.h"
#include "train/stop_signal.h"

using namespace mote;
using namespace toy_run;

namespace {

/// Command-line options that are no settings of the run.
struct Command {
  std::string out_dir, resume, config;
  template <class V>
  void visit(V& v) {
    v("out_dir", out_dir,
      "a folder for a new run: checkpoints, logs, settings, report.html; not given: nothing is kept");
    v("resume", resume, "the folder of a run to go on with; other options may then be left out");
    v("config", config, "a file with options, a line for each: max_iters = 2000");
  }
  bool kept() const { return !out_dir.empty() || !resume.empty(); }
};

/// Reports a run as it proceeds: the first loss beside ln V, then a progress line.
class Narrator {
 public:
  Narrator(const Task& task, const ProgressOptions& options)
      : task_(task), progress_(std::cout, isatty(STDOUT_FILENO) != 0, options) {}
  /// Errors, here as below: nobody receives the report.
  void operator()(const StepReport& report) {
    if (report.step == 0) {
      const long long ids = task_.vocab_size();
      std::printf("first loss %.4f; guessing among %lld ids costs ln %lld = %.4f\n", report.loss, ids, ids,
                  math::log(static_cast<double>(ids)));
      flush_output();
    }
    progress_.update(report.step + 1, report.steps, report.loss, report.learning_rate, report.grad_norm);
    if (!std::cout) flush_output();
  }
  void operator()(const EvaluationReport& report) {
    progress_.note(describe(report, task_));
    if (!std::cout) flush_output();
  }
  void finish() { progress_.finish(); }

 private:
  const Task& task_;
  Progress progress_;
};

/// What the settings describe, and where it stands.
struct Run {
  const RunSettings& settings;
  std::shared_ptr<const Task> task;
  std::unique_ptr<Model> model;
  FitOptions fit;
  std::unique_ptr<Optimizer> optimizer;
  std::unique_ptr<EMA> ema;  ///< where the settings ask for averaged weights
  Generator data;
  std::optional<Evaluator> evaluator;
  std::optional<KeptRun> kept;

  /// Errors: settings that do not go together.
  Run(const RunSettings& s, bool is_kept)
      : settings(s),
        task(s.the_task()),
        model(s.new_model(*task, Generator(s.general.seed))),
        fit(fit_options(s.recipe)),
        optimizer(make_optimizer(s.recipe, model->module())),
        data(s.general.seed + s.recipe.data_seed) {
    if (s.recipe.ema_decay != 0)
      ema = std::make_unique<EMA>(model->module(), EMAOptions{.decay = s.recipe.ema_decay, .warmup = true});
    evaluator.emplace(*model, *task, settings, is_kept);
  }
  /// What `look` returns of the model with the weights that are evaluated.
  template <class Look>
  auto evaluated(const Look& look) const {
    if (!ema) return look();
    const AveragedWeights averaged(*ema);
    return look();
  }
};

/// The batches to train on: new ones, or always the same.
class Batches {
 public:
  explicit Batches(const Run& run) : run_(run) {
    const RunSettings& s = run.settings;
    const Generator own(s.general.seed + s.recipe.data_seed);
    if (s.general.overfit)
      for (Index i = 0; i < s.recipe.gradient_accumulation_steps; ++i) same_.push_back(draw(own));
  }
  MeanLoss loss() {
    const Batch batch = same_.empty() ? draw(run_.data) : same_[next_++ % same_.size()];
    return {run_.model->loss(batch, run_.settings.recipe.label_smoothing), batch.count()};
  }
  bool overfit() const { return !same_.empty(); }
  /// The loss of the batches that are always the same.
  double loss_of_same() const {
    return mean_loss(run_.model->module(), same_, [&](const Batch& b) { return run_.model->loss(b); });
  }

 private:
  Batch draw(const Generator& random) const {
    return run_.task->batch(run_.settings.recipe.batch_size, Split::train, random);
  }
  const Run& run_;
  std::vector<Batch> same_;
  std::size_t next_ = 0;
};

EvaluationReport evaluate(Run& run, Index done) {
  EvaluationReport report = run.evaluated([&] { return (*run.evaluator)(done); });
  if (run.kept) run.kept->log(report, done);
  return report;
}

void write_report(Run& run, const Ending& ending) {
  try {
    write_report(*run.kept, run.settings, *run.task, *run.model, *run.optimizer, run.evaluator->tokens(), ending);
    std::cout << "\nthe report is " << run.kept->file("report.html") << "\n";
  } catch (const Error& e) {
    std::cout << "\nwarning: there is no report: " << e.what() << "\n";
  }
}

/// Ends the program as a signal that came would have.
void end_if_signalled(Run& run) {
  if (StopSignal::received() == 0) return;
  run.kept.reset();  // its lock is removed
  end_by_signal(StopSignal::received());
}

/// Ends a training whose terminal was closed or whose reader has seen enough. If the run is kept it has been saved.
[[noreturn]] void end_unheard(Run& run, const std::exception_ptr& error) {
  end_if_signalled(run);
  try {
    std::rethrow_exception(error);
  } catch (const OutputError& e) {
    if (!run.kept) throw;
    throw OutputError(std::string(e.what()) + "; stopped after step " + std::to_string(run.kept->steps) +
                      ", go on with --resume " + run.kept->path());
  }
}

/// Trains from where the run stands. A signal ends the program, once the run is saved.
void train(Run& run) {
  const RunSettings& settings = run.settings;
  const Recipe& recipe = settings.recipe;
  FitOptions options = run.fit;
  std::cout << describe(run.optimizer->groups()) << "\n";
  Batches batches(run);
  const Index tokens = run.task->batch(1, Split::train, Generator(0)).ids.numel();
  ProgressOptions shown;
  shown.every_steps = settings.showing.log_interval;
  shown.tokens_per_step = tokens * recipe.batch_size * recipe.gradient_accumulation_steps;
  Narrator narrator(*run.task, shown);
  const StopSignal stop;
  std::exception_ptr unheard;
  const Index every = recipe.eval_interval;
  options.on_step = [&](const StepReport& report) {
    const Index done = report.step + 1;
    if (run.ema) run.ema->update();
    if (run.kept) run.kept->log(report);
    std::optional<EvaluationReport> evaluation;
    if (done == options.steps || (every > 0 && done % every == 0)) evaluation = evaluate(run, done);
    try {
      narrator(report);
      if (evaluation) narrator(*evaluation);
    } catch (const OutputError&) {
      unheard = std::current_exception();
    }
    return StopSignal::received() == 0 && !unheard;
  };
  options.on_warning = [](const std::string& text) { std::cout << "warning: " << text << "\n"; };
  if (run.kept) {
    options.first_step = run.kept->steps;
    options.save_every = settings.keeping.save_interval;
    options.save = [&](Index steps) { run.kept->save(steps); };
    if (options.first_step > 0) {
      std::cout << "going on after step " << options.first_step << " of " << options.steps << "\n";
      const double was = run.optimizer->learning_rate(), now = options.schedule(options.first_step - 1);
      if (was != now)
        std::cout << "warning: in a run of " << options.steps << " steps the learning rate of step "
                  << options.first_step << " would have been " << general_text(now, 4) << ", and it was "
                  << general_text(was, 4)
                  << ": the weights will not be those of a run that was so long from the start\n";
    }
  }
  const Stopwatch clock;
  const Index first = options.first_step;
  if ((first == 0 ? every > 0 : first == options.steps) && !(run.kept && run.kept->evaluated == first))
    narrator(evaluate(run, first));
  if (run.kept && first == options.steps && !run.kept->saved) run.kept->save(first);
#ifdef SIGPIPE
  if (run.kept) std::signal(SIGPIPE, SIG_IGN);  // it would end the program before it has saved
#endif
  fit(
      *run.optimizer, [&](Index) { return batches.loss(); }, options);
  if (unheard) end_unheard(run, unheard);
  narrator.finish();
  if (StopSignal::received() != 0) {
    if (run.kept) {
      write_report(run, {{{"stopped after", std::to_string(run.kept->steps) + " steps"}}, {}, {}});
      std::cout << "stopped after step " << run.kept->steps << "; go on with --resume " << run.kept->path() << "\n";
    } else {
      std::cout << "stopped; nothing was kept: --out_dir FOLDER keeps a run\n";
    }
    flush_output();
    end_if_signalled(run);
  }
  std::printf("trained %lld steps in %.1f s\n\n", static_cast<long long>(options.steps - options.first_step),
              clock.seconds());
  if (batches.overfit()) {
    const double loss = batches.loss_of_same();
    std::printf("overfit: the loss on the batch that it was trained on is %.4g%s\n\n", loss,
                loss < 0.05 ? ""
                            : ": more steps or another learning rate should bring it near 0; if they do not, the model "
                              "or its loss has a mistake");
  }
  std::fflush(stdout);  // should nobody receive it, the report is still to be written
}

/// The head that attends most to the positions that determine the next token, on one example; nothing if the task has
/// no such positions or the model no attention.
void show_head(const Run& run, const std::vector<Array>& layers, const std::vector<Index>& ids,
               const std::string& kind) {
  const Task& task = *run.task;
  std::vector<std::pair<Index, Index>> looks;  // from, to
  for (Index t = 0; t < static_cast<Index>(ids.size()); ++t)
    if (const Index at = task.looks_at(ids, t); at >= 0) looks.emplace_back(t, at);
  if (looks.empty()) return;
  double best = -1;
  std::size_t best_layer = 0;
  Index best_head = 0;
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

/// What the heads of each layer do on an example: for whoever trains a task that says nothing about where to look.
std::string head_table(const std::vector<Array>& layers, const Batch& batch) {
  std::string text;
  for (std::size_t layer = 0; layer < layers.size(); ++layer)
    text += std::string(layer > 0 ? "\n" : "") + "layer " + std::to_string(layer) + "\n" +
            describe(head_scores(layers[layer], batch.ids));
  return text;
}

/// Asks the questions and shows what the model says; returns what the report says of it.
Ending ending(const Run& run) {
  const RunSettings& settings = run.settings;
  const Task& task = *run.task;
  const std::string kind = task.holds_out() ? "held-out" : "fresh";
  Ending ending;
  ending.facts.emplace_back("task", settings.general.task);
  ending.facts.emplace_back("steps", std::to_string(settings.recipe.max_iters));
  ending.facts.emplace_back("parameters", std::to_string(parameter_count(run.model->module())));
  if (task.graded()) {
    const Answers all =
        ask(*run.model, task, task.evaluation(settings.general.sequences.value_or(task.outcome().questions)), 3, 5);
    std::cout << "three " << kind << " questions:\n";
    for (const EvaluationReport::Sample& s : all.first)
      std::cout << "  question " << s.question << "   answer " << s.answer << (*s.right ? "   right\n" : "   wrong\n");
    std::cout << "exact match on " << all.total << " " << kind << " sequences: " << all.exact << " ("
              << fixed_text(100 * all.share(), 1) << " %); with its own settings, the task reaches "
              << text_of(task.outcome()) << "\n";
    if (!all.mistakes.empty()) std::cout << "first mistakes:\n";
    for (const Answers::Mistake& m : all.mistakes)
      std::cout << "  question " << m.question << "   answer " << m.answer << "   instead of " << m.instead_of << "\n";
    ending.facts.emplace_back("exact match", all.text());
    ending.mistakes = all.mistakes;
  } else {
    const auto [loss, what] = run.evaluator->precise_loss();
    const std::string text = fixed_text(loss, 4) + task.loss_note(loss);
    std::cout << "held-out loss on " << what << ": " << text << "\n";
    ending.facts.emplace_back("held-out loss", text);
  }
  const Batch shown = example(task, settings.general.seed);
  const std::vector<Array> layers = attention(*run.model, shown);
  if (!layers.empty()) {
    ending.heads =
        "Shares of attention to the token before, to the first one, and to what followed an earlier occurrence of the "
        "same\n"
        "token (induction); from 0.5 on it has a name. Entropy 1 is an even look at everything.\n\n" +
        head_table(layers, shown);
    show_head(run, layers, row_of(shown.ids, 0), kind);
  }
  return ending;
}

/// Errors: settings that cannot be.
void check_settings(const Command& command, const RunSettings& settings) {
  const Index seed = settings.general.seed, sequences = settings.general.sequences.value_or(1);
  check(sequences >= 1, "sequences ", sequences, " must be at least 1");
  check(settings.showing.log_interval >= 0, "log_interval ", settings.showing.log_interval, " must be at least 0");
  check(settings.showing.samples >= 0, "samples ", settings.showing.samples, " must be at least 0");
  const auto [save_interval, keep] = settings.keeping;
  check(keep >= 1, "keep ", keep, " must be at least 1");
  check(save_interval >= 0, "save_interval ", save_interval, " must be at least 0");
  check(command.out_dir.empty() || command.resume.empty(),
        "--out_dir begins a run and --resume goes on with one: give one of them");
  check(seed >= 0 && seed <= 1'000'000'000'000'000'000, "seed ", seed, " must be 0 to 1000000000000000000");
  settings.check_typed(command.kept());
  if (command.kept()) config_json(settings);  // a path that is no UTF-8 is none for JSON
}

int run_task(const Command& command, const RunSettings& settings) {
  checked_usage([&] { check_settings(command, settings); });
  Run run = checked_usage([&] { return Run(settings, command.kept()); });
  const bool resumes = !command.resume.empty();
  if (command.kept())
    run.kept.emplace(resumes ? command.resume : command.out_dir, resumes, settings, *run.task, *run.model,
                     *run.optimizer, run.ema.get(), run.data);
  std::cout << settings.general.task << ": " << run.task->description() << "\n\n"
            << summary(run.model->module()) << "\n";
  train(run);
  const Ending end = run.evaluated([&] { return ending(run); });
  if (run.kept) write_report(run, end);
  return 0;
}

/// A table of all tasks: what comes of their own settings, in how many steps and seconds, and what guesses get right.
int list_tasks() {
  std::vector<std::vector<std::string>> rows{
      {"task", "outcome", "chance", "steps", "seconds", "what there is to learn"}};
  for (const std::string& name : task_names()) {
    const std::unique_ptr<Task> task = make_task(name);
    const Outcome outcome = task->outcome();
    std::string what = task->description();
    if (what.size() > 80) what = what.substr(0, what.rfind(' ', 78)) + " ...";
    const std::string reached = task->graded() ? text_of(outcome) : "loss <= " + fixed_text(outcome.loss, 2);
    const std::string chance = !task->graded()           ? "-"
                               : outcome.chance < 0.0005 ? "0 %"
                                                         : fixed_text(100 * outcome.chance, 1) + " %";
    rows.push_back({name, reached, chance, std::to_string(task->recipe().max_iters),
                    outcome.seconds > 0 ? fixed_text(outcome.seconds, outcome.seconds < 10 ? 1 : 0) : "-", what});
  }
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const std::vector<std::string>& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  for (const std::vector<std::string>& row : rows) {
    std::string text;
    for (std::size_t i = 0; i < row.size(); ++i)
      text += row[i] + (i + 1 < row.size() ? std::string(widths[i] + 2 - row[i].size(), ' ') : "");
    std::cout << text << "\n";
  }
  std::cout
      << "\nOutcomes are shares of whole answers to held-out questions that each of the seeds 1, 2 and 3 reaches.\n";
  return 0;
}

/// What was given, the lines of --config included. --text FILE says which task it is.
CommandLine read_command_line(int argc, char** argv) {
  CommandLine line(argc, argv);
  const std::string config = line.peek("--config", "");
  if (!config.empty()) {
    line.add_file(config, {"--config", "--resume"}, [](CommandLine::Given& given) {
      const bool is_switch = given.value == "true" || given.value == "false";
      if (given.name == "--decay_lr" && is_switch)  // nanoGPT's word for it
        given.name = "--schedule", given.value = given.value == "true" ? "cosine" : "constant";
    });
  }
  for (const char* const option : {"--out_dir", "--resume", "--config", "--text"})
    if (line.peek(option, "?").empty()) throw UsageError(std::string(option) + " needs a path");
  if (line.has("--text") && !line.has("--task") && !line.has("--resume"))
    line.all().push_back({"--task", "text", true});
  if (line.has("--text") && line.peek("--task", "text") != "text") throw UsageError("--text is for --task text");
  return line;
}

/// The settings that a command line begins with: those of the run to go on with, or a task's defaults.
RunSettings first_settings(const CommandLine& line) {
  const std::string resume = line.peek("--resume", ""), task = line.peek("--task", "copy");
  if (!resume.empty()) {
    RunSettings kept = read_config(resume, line.peek("--text", ""));
    for (const auto& [name, had] :
         {std::pair<std::string, std::string>("task", kept.general.task), {"model", kept.general.model}}) {
      const std::string wanted = line.peek("--" + name, had);
      check(wanted == had, "--", name, " ", wanted, " contradicts the run in ", resume, ", which has ", had);
    }
    return kept;
  }
  FieldValues options;  // of the task, on which its other defaults depend
  for (const Field& f : task_options(task))
    for (const CommandLine::Given& given : line.all())
      if (given.name == "--" + f.name && (given.has_value || f.words == "true|false")) {
        options.emplace_back(f.name, given.has_value ? given.value : "true");
        try {
          task_options(task, options);
        } catch (const Error& e) {
          throw UsageError(given.where + (given.where.empty() ? "--" : "") + e.what());
        }
      }
  return RunSettings(task, options, line.peek("--model", ""));
}

/// Errors: an option that contradicts the run to go on with.
void check_unchanged(const RunSettings& before, const RunSettings& now, const std::string& folder) {
  const std::vector<Field> old = fixed_settings(before), wanted = fixed_settings(now);
  for (const Field& f : wanted)
    for (const Field& g : old)
      check(f.name != g.name || f.value == g.value, "--", f.name, " ", f.value, " contradicts the run in ", folder,
            ", which has ", g.value, " (--max_iters and what says how often to look and to save may change)");
}

/// Errors: config.json differs from what the newest checkpoint was saved with. Before a model is built, for it may say
/// anything.
void check_belongs(const RunSettings& settings, const std::string& folder) {
  const std::string newest = newest_checkpoint(folder);
  if (newest.empty()) return;
  const SafetensorsFile file(newest);
  for (const Field& f : fixed_settings(settings)) {
    const std::string* const saved = file.find_metadata("settings." + f.name);
    check(saved, newest, " was kept by another version of mote: it has no setting '", f.name, "'");
    check(*saved == f.value, folder, "/config.json has ", f.name, " ", f.value, ", and ", newest, " was saved with ",
          *saved);
  }
}

int run_command(int argc, char** argv) {
  const char* const about = "Trains a small decoder language model on a task and shows what it learned.";
  const CommandLine line = read_command_line(argc, argv);
  Command command;
  Options options(about);
  const bool only_help = argc == 2 && (argv[1] == std::string("--help") || argv[1] == std::string("-h"));
  if (only_help || line.peek("--task", "") == "list") {
    General general;
    Showing showing;
    Keeping keeping;
    options.add("general options", general);
    options.add("this program", command);
    options.add("what it shows", showing);
    options.add("checkpoints", keeping);
    options.note(
        "--task NAME --help shows the options of a task, of its model and of its training, with defaults.\n"
        "--text FILE learns from a file: an option of --task text, which need not be said then.");
    if (!options.parse(argv[0], line)) return 0;
    return list_tasks();
  }
  RunSettings settings = checked_usage([&] { return first_settings(line); });
  const RunSettings before = settings;
  const std::string task = settings.general.task, model = settings.general.model;
  options.add("general options", settings.general);
  options.add("this program", command);
  options.add("what it shows", settings.showing);
  options.add("checkpoints", settings.keeping);
  for (const auto& [title, group] : {std::pair<std::string, std::string>("--task " + task, "task"),
                                     {"--model " + model, "model"},
                                     {"training", "training"}})
    options.add(
        title, [&settings, group = group] { return settings.group(group); },
        [&settings, group = group](const std::string& name, const std::string& text) {
          settings.set(group, name, text);
        });
  options.context(" for --task " + task + " and --model " + model);
  if (!options.parse(argv[0], line)) return 0;
  for (const CommandLine::Given& given : line.all()) settings.typed.push_back(given.name.substr(2));
  if (!command.resume.empty()) checked_usage([&] { check_unchanged(before, settings, command.resume); });
  if (!command.resume.empty()) check_belongs(before, command.resume);
  return run_task(command, settings);
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
