// Trains a GPT on a task and shows what it learned: the falling loss, answers to unseen questions, what its heads
// attend to. With --out_dir it keeps the run in a folder, with a report.
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <iostream>
#include <optional>
#include <sstream>

#include "engine/base/number_text.h"
#include "engine/base/table.h"
#include "examples/programs/diagnose.h"
#include "examples/programs/many_seeds.h"
#include "examples/programs/train_settings.h"

using namespace mote;

namespace {

/// The options of this program that are not settings of the run.
struct Command {
  std::string task = "copy", out_dir, resume, init_from, from, config, seeds;
  Index jobs = 1;
  std::optional<Index> log_interval = {};
  bool diagnose = false, use_cache = true, accept_changes = false;
  template <class V>
  void visit(V& v) {
    v("task", task, "what to learn; list: all tasks");
    v("out_dir", out_dir,
      "the folder of a new run, for checkpoints, logs and report.html; without it nothing is saved");
    v("resume", resume, "the folder of a run to resume, with the settings that it began with");
    v("init_from", init_from,
      "a model to begin with: a run, a folder of Hugging Face's, ckpt.pt, or weights alone; text has its vocabulary");
    v("from", from, "nanoGPT's ckpt.pt: the training goes on from its step, with its settings");
    v("config", config, "a file of options, one in each line, such as max_iters = 2000");
    v("seeds", seeds, "train once with each of these seeds, such as 1-10, and print the worst and the median outcome");
    v("jobs", jobs, "how many of them at a time", {.needs = seeds.empty() ? "--seeds" : ""});
    v("use_cache", use_cache,
      "generate answers with a cache of keys and values; false for a layer of your own that has no cache");
    v("accept_changes", accept_changes,
      "resume even if the loss of the checkpoint is not computed again, because the model, the data or mote changed");
    v("diagnose", diagnose,
      "do not train, but measure what may keep the model from learning; see when_it_does_not_learn.md");
    v("log_interval", log_interval,
      "steps between two lines of progress, if the output is no terminal; default: no such lines");
  }
};

/// Makes the model and checks all settings before the training. Errors, which are all mistakes of the user: settings
/// that are invalid alone or together, or that contradict the run to resume.
GPT new_model(const Task& task, const RunSettings& settings) {
  GPT made = settings.new_model(task, Generator(settings.run.seed));
  RunOptions trial = settings.run;
  trial.folder.clear();
  const std::vector<SettingsGroup> all = Run(task, settings.subject(made), settings.recipe, trial).settings();
  const std::string& folder = settings.run.folder;
  if (!folder.empty()) config_json(all);
  const std::string newest = settings.run.fresh || folder.empty() ? "" : newest_checkpoint(folder);
  if (!newest.empty()) check_settings(SafetensorsFile(newest), all, folder);
  return made;
}

void report(const Run& run) {
  try {
    write_report(run);
    std::cout << "\nthe report is " << run.folder().file("report.html") << "\n";
  } catch (const Error& e) {
    std::cout << "\nwarning: there is no report: " << e.what() << "\n";
  }
}

/// Trains and prints the reports. Returns false if a signal came, or if standard output cannot be written any more.
bool train(Run& run, std::optional<Index> log_interval, Index tokens_per_step) {
  const bool terminal = on_terminal();
  Progress progress(std::cout, terminal, log_interval.value_or(0), tokens_per_step);
  const std::function<bool(const RunEvent&)> see = [&](const RunEvent& event) {
    if (const auto* const r = std::get_if<StepReport>(&event)) {
      if (terminal || log_interval) progress.update(*r);
    } else if (!std::holds_alternative<RunEnding>(event)) {
      std::ostringstream text;
      text << event;
      progress.note(text.str());
    }
    return StopSignal::received() == 0 && std::cout.good();
  };
  const bool ended = run.train(see, 1);
  progress.finish();
  return ended;
}

/// Says that a run was stopped, and ends the program by `signal`. Errors: standard output cannot be written.
[[noreturn]] void end_stopped(std::optional<Run>& run, int signal) {
  const bool kept = !run->options().folder.empty();
  const std::string stopped =
      kept ? "stopped after step " + std::to_string(run->steps()) + "; go on with --resume " + run->options().folder
           : "stopped; nothing was kept: --out_dir FOLDER keeps a run";
  if (kept && std::cout) report(*run);
  run.reset();  // removes the lock of its folder
  std::cout << stopped << "\n";
  try {
    flush_output();
  } catch (const OutputError& e) {
    if (signal == 0) throw OutputError(std::string(e.what()) + "; " + stopped);
  }
  end_by_signal(signal);
}

void show_ending(const Task& task, const RunEnding& end) {
  if (!end.answers) {
    std::cout << RunEvent(end) << "\n";
  } else {
    const Answers& all = *end.answers;
    const std::string kind = task.holds_out() ? " held-out " : " fresh ";
    std::cout << all.first.size() << kind << "questions:\n";
    for (const EvaluationReport::Sample& s : all.first)
      std::cout << "  question " << s.question << "   answer " << s.answer << (*s.right ? "   right\n" : "   wrong\n");
    std::cout << "exact match on " << all.total << kind << "sequences: " << all.exact << " ("
              << percent_text(all.fraction(), 1) << "); with its own settings, the task reaches "
              << text_of(task.outcome()) << "\n"
              << (all.mistakes.empty() ? "" : "first mistakes:\n");
    for (const Answers::Mistake& m : all.mistakes)
      std::cout << "  question " << m.question << "   answer " << m.answer << "   instead of " << m.instead_of << "\n";
  }
  if (const std::string head = task.best_head_text(end.ids, end.heads); !head.empty()) std::cout << head << "\n";
}

int run_task(const Task& task, GPT model, const Command& command, const RunSettings& settings) {
  std::optional<RunState> from;
  if (!command.from.empty()) {
    const std::unique_ptr<Optimizer> optimizer = make_optimizer(settings.recipe, model);
    from = detail::named(command.from, [&] {
      return nanogpt_state(imported_checkpoint(command.from), model, nanogpt_names(model), *optimizer);
    });
  }
  std::optional<Run> run(std::in_place, task, settings.subject(model), settings.recipe, settings.run, from);
  const GPTConfig& c = model.config;
  std::cout << settings.task << ": " << task.description() << "\na GPT of " << parameter_count(model)
            << " parameters: layers " << c.n_layer << ", heads " << c.n_head << ", width " << c.n_embd
            << "; a loss of ln " << c.vocab_size << " = " << fixed_text(*task.guessing_loss(), 4)
            << " is that of guessing\n\n"
            << std::flush;  // the first step may take long
  const Index first = run->steps(), last = settings.recipe.max_iters;
  if (first > 0) std::cout << "going on after step " << first << " of " << last << "\n";
  const Index tokens = task.batch(settings.recipe.batch_size, Split::train, Generator(0)).ids.numel();
  const StopSignal stop(stopping_text());
#ifdef SIGPIPE
  if (!settings.run.folder.empty()) std::signal(SIGPIPE, SIG_IGN);  // SIGPIPE would end the program unsaved
#endif
  const auto begin = std::chrono::steady_clock::now();
  if (!train(*run, command.log_interval, tokens * settings.recipe.gradient_accumulation_steps))
    end_stopped(run, StopSignal::received());
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::cout << "trained " << last - first << " steps; with all evaluations " << fixed_text(took.count(), 1) << " s\n\n";
  show_ending(task, *run->ending());
  if (!settings.run.folder.empty()) report(*run);
  return 0;
}

/// Prints what keeps the model from learning. Returns 1 if anything does, otherwise 0.
int run_diagnosis(const Task& task, GPT& model, const RunSettings& settings) {
  const Generator batches = run_stream(settings.run.seed, Draws::batches);
  const Batch batch = task.batch(settings.recipe.batch_size, Split::train, batches);
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(settings.recipe, model);
  const auto step = [&](const IntArray& ids, const IntArray& targets) {
    optimizer->zero_grad();
    model.loss(ids, targets).backward();
    optimizer->step();
  };
  const std::string found =
      diagnose({model, [&](const IntArray& ids) { return model(ids); }, step}, batch.ids, batch.targets);
  std::cout << settings.task << ", before training, on one batch:\n" << found;
  return found.find("LOOK") == found.npos ? 0 : 1;
}

/// Prints a table of all tasks: the outcome with their own settings, the steps and seconds of training, and the share
/// of answers that guesses get right.
int list_tasks() {
  std::vector<TableRow> rows{{"task", "outcome", "chance", "steps", "seconds", "what there is to learn"}};
  for (const std::string& name : task_names()) {
    const OwnedTask task = make_task(name);
    const Outcome outcome = task->outcome();
    std::string what = task->description(), chance = "-", seconds = "-";
    if (what.size() > 80) what = what.substr(0, what.rfind(' ', 78)) + " ...";
    if (task->graded()) chance = outcome.chance < 0.0005 ? "0 %" : fixed_text(100 * outcome.chance, 1) + " %";
    if (outcome.seconds > 0) seconds = fixed_text(outcome.seconds, outcome.seconds < 10 ? 1 : 0);
    rows.push_back({name, text_of(outcome), chance, std::to_string(task->recipe().max_iters), seconds, what});
  }
  rows.push_back({"\nOutcomes: shares of whole answers to held-out questions that each of the seeds 1 to 10 reaches."});
  std::cout << table_text(rows);
  return 0;
}

int run_command(int argc, char** argv) {
  Command command;
  const CommandLine line = read_command_line(argc, argv, fields(command));
  Options options("Trains a small decoder language model on a task and shows what it learned.");
  options.add("this program", command);
  if (line.peek("task", "") == "list" || (argc == 2 && line.help)) {
    RunOptions run{.folder = "?"};
    options.add("the run", run);
    options.note =
        "--task NAME --help shows the options of a task, of its model and of its training, with defaults.\n"
        "--text FILE learns from a file: an option of --task text, which need not be said then.";
    return options.parse(line) ? list_tasks() : 0;
  }
  RunSettings settings = settings_of(line);
  add_to(options, settings);
  if (!options.parse(line)) return 0;
  settings.use_cache = command.use_cache;
  settings.run.accept_changes = command.accept_changes;
  std::pair<Index, Index> seeds;
  std::shared_ptr<const Task> task;
  GPT model = checked_usage([&] {
    if (line.has("seeds")) {
      check(command.resume.empty() && !line.has("seed"),
            "--seeds begins new runs, one for each seed: without --resume and --seed");
      check(!line.has("log_interval"), "--log_interval is for one run: without --seeds");
      check(command.jobs >= 1 && command.jobs <= 1000, "jobs ", command.jobs, " must be 1 to 1000");
      seeds = read_seeds(command.seeds);
    }
    check(!command.diagnose || (command.seeds.empty() && command.resume.empty() && settings.run.folder.empty()),
          "--diagnose measures a new model and keeps nothing: without --seeds, --resume and --out_dir");
    if (command.diagnose)
      for (const char* const name :
           {"samples", "sequences", "eval_interval", "eval_iters", "schedule", "max_iters", "warmup_iters", "min_lr",
            "lr_decay_iters", "grad_clip", "ema_decay", "gradient_accumulation_steps", "log_interval", "use_cache"})
        check(!line.has(name), "--", name, " has no effect on --diagnose, which takes a few steps on one batch");
    check(command.from.empty() || (command.seeds.empty() && !command.diagnose),
          "--from goes on with one run: without --seeds and --diagnose");
    const Index interval = command.log_interval.value_or(0);
    check(interval >= 0, "log_interval ", interval, " must be at least 0");
    task = settings.make_task();
    check(!line.has("sequences") || task->graded(), "--sequences is for tasks whose questions have one right answer");
    return new_model(*task, settings);
  });
  if (command.diagnose) return run_diagnosis(*task, model, settings);
  if (command.seeds.empty()) return run_task(*task, std::move(model), command, settings);
  return train_seeds(settings, *task, seeds.first, seeds.second, command.jobs) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
