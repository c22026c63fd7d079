// Trains a GPT on a task and shows what it learned: the falling loss, answers to unseen questions, what its heads look
// at; keeps it in a folder, with a report.
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <iostream>
#include <optional>
#include <sstream>

#include "engine/base/number_text.h"
#include "examples/many_seeds.h"
#include "examples/options.h"
#include "examples/saved_run.h"

using namespace mote;

namespace {

/// Options that are no settings of the run.
struct Command {
  std::string task = "copy", out_dir, resume, config, seeds;
  Index jobs = 1;
  std::optional<Index> log_interval = {};
  template <class V>
  void visit(V& v) {
    v("task", task, "what to learn; list: all tasks");
    v("out_dir", out_dir,
      "a folder for a new run: checkpoints, logs, settings, report.html; not given: nothing is kept");
    v("resume", resume, "the folder of a run to resume; other options may then be left out");
    v("config", config, "a file with options, a line for each: max_iters = 2000");
    v("seeds", seeds, "train with each of these, 1-10: the worst and the median outcome");
    v("jobs", jobs, "how many of them at a time", {.needs = seeds.empty() ? "--seeds" : ""});
    v("log_interval", log_interval, "steps between two lines of progress where no terminal shows them; default: none");
  }
};

/// Prints what a run reports, and asks it to stop once a signal came or nobody receives it any more.
class Narrator {
 public:
  /// Without `log_interval` steps are shown on a terminal alone.
  Narrator(std::optional<Index> log_interval, Index tokens_per_step)
      : steps_(terminal_ || log_interval),
        progress_(std::cout, terminal_, {.every_steps = log_interval.value_or(0), .tokens_per_step = tokens_per_step}) {
  }

  bool operator()(const RunReport& report) {
    try {
      if (const auto* const r = std::get_if<StepReport>(&report)) {
        if (steps_) progress_.update(r->step + 1, r->steps, r->loss, r->learning_rate, r->grad_norm);
      } else if (!std::holds_alternative<RunEnding>(report)) {
        std::ostringstream text;
        text << report;
        progress_.note(text.str());
      }
      if (!std::cout) flush_output();
    } catch (const OutputError&) {
      unheard = std::current_exception();
    }
    return StopSignal::received() == 0 && !unheard;
  }
  void finish() { progress_.finish(); }

  std::exception_ptr unheard;

 private:
  bool terminal_ = isatty(STDOUT_FILENO) != 0, steps_;
  Progress progress_;
};

/// Says which head attends most to the positions that determine the next token, on one example; nothing if the task has
/// no such positions or the model no attention.
void name_head(const Task& task, const RunEnding& end) {
  std::vector<std::pair<Index, Index>> looks;  // from, to
  for (Index t = 0; t < std::ssize(end.ids); ++t)
    if (const Index at = task.looks_at(end.ids, t); at >= 0) looks.emplace_back(t, at);
  if (looks.empty()) return;
  double best = -1;
  std::string name;
  for (std::size_t layer = 0; layer < end.heads.size(); ++layer)
    for (Index head = 0; head < end.heads[layer].shape()[0]; ++head) {
      double fraction = 0;
      for (const auto& [from, to] : looks) fraction += static_cast<double>(end.heads[layer].at({head, from, to}));
      fraction /= static_cast<double>(looks.size());
      if (fraction <= best) continue;
      best = fraction;
      name = "head " + std::to_string(head) + " of layer " + std::to_string(layer) + " (both counted from 0)";
    }
  std::cout << "attention: " << name << ". " << task.looks_text(fixed_text(100 * best, 0) + " %") << "\n";
}

void show_ending(const Task& task, const RunEnding& end) {
  const std::string kind = task.holds_out() ? "held-out" : "fresh";
  if (end.overfit_loss)
    std::printf("overfit: the loss on the batch that it was trained on is %.4g%s\n\n", *end.overfit_loss,
                *end.overfit_loss < 0.05
                    ? ""
                    : ": more steps or another learning rate should bring it near 0; if they do not, the model "
                      "or its loss has a mistake");
  std::fflush(stdout);  // should nobody receive it, the report is still to be written
  if (end.answers) {
    const Answers& all = *end.answers;
    std::cout << all.first.size() << " " << kind << " questions:\n";
    for (const EvaluationReport::Sample& s : all.first)
      std::cout << "  question " << s.question << "   answer " << s.answer << (*s.right ? "   right\n" : "   wrong\n");
    std::cout << "exact match on " << all.total << " " << kind << " sequences: " << all.exact << " ("
              << fixed_text(100 * all.fraction(), 1) << " %); with its own settings, the task reaches "
              << text_of(task.outcome()) << "\n";
    if (!all.mistakes.empty()) std::cout << "first mistakes:\n";
    for (const Answers::Mistake& m : all.mistakes)
      std::cout << "  question " << m.question << "   answer " << m.answer << "   instead of " << m.instead_of << "\n";
  } else {
    std::cout << "held-out loss on " << end.loss_of << ": " << fixed_text(end.loss, 4) << end.loss_note << "\n";
  }
  if (!end.heads.empty()) name_head(task, end);
}

void report(const Run& run) {
  try {
    write_report(run);
    std::cout << "\nthe report is " << run.folder().file("report.html") << "\n";
  } catch (const Error& e) {
    std::cout << "\nwarning: there is no report: " << e.what() << "\n";
  }
}

/// The model before training. Errors, all of them the user's: what the settings cannot be, alone, together or beside
/// the run to resume.
GPT new_model(const Task& task, const Command& command, const RunSettings& settings, const CommandLine& line) {
  return checked_usage([&] {
    const RunOptions& o = settings.run;
    check(command.log_interval.value_or(0) >= 0, "log_interval ", *command.log_interval, " must be at least 0");
    check(!line.has("--sequences") || task.graded(), "--sequences is for tasks whose questions have one right answer");
    GPT made = settings.new_model(task, Generator(o.seed));
    RunOptions not_kept = o;
    not_kept.folder.clear();
    const Run trial(task, subject_of(made), settings.recipe, not_kept);  // what cannot be is the user's error
    if (!o.folder.empty()) config_json(trial.settings());
    if (!command.resume.empty())
      check_settings(SafetensorsFile(newest_checkpoint(o.folder)), trial.settings(), o.folder);
    return made;
  });
}

int run_task(const Command& command, const RunSettings& settings, const CommandLine& line) {
  const RunOptions& o = settings.run;
  const bool kept = !o.folder.empty();
  const std::shared_ptr<const Task> task = checked_usage([&] { return settings.make_task(); });
  GPT model = new_model(*task, command, settings, line);
  std::optional<Run> run(std::in_place, *task, subject_of(model), settings.recipe, o);
  const GPTConfig& c = model.config;
  std::cout << settings.task << ": " << task->description() << "\na GPT of " << parameter_count(model)
            << " parameters: layers " << c.n_layer << ", heads " << c.n_head << ", width " << c.n_embd
            << "; a loss of ln " << c.vocab_size << " = " << fixed_text(*task->guessing_loss(), 4)
            << " is that of guessing\n\n";
  const Index first = run->steps(), last = settings.recipe.max_iters;
  if (first > 0) std::cout << "going on after step " << first << " of " << last << "\n";
  const Index tokens = task->batch(settings.recipe.batch_size, Split::train, Generator(0)).ids.numel();
  Narrator narrator(command.log_interval, tokens * settings.recipe.gradient_accumulation_steps);
  const StopSignal stop;
#ifdef SIGPIPE
  if (kept) std::signal(SIGPIPE, SIG_IGN);  // it would end the program before it has saved
#endif
  const auto begin = std::chrono::steady_clock::now();
  const bool ended = run->train([&](const RunReport& r) { return narrator(r); }, 1);
  const int signal = StopSignal::received();
  const std::string resume = "go on with --resume " + command.resume + command.out_dir;
  const std::string after = "after step " + std::to_string(run->steps()) + ", ";
  if (narrator.unheard) {
    run.reset();  // its lock is removed
    if (signal != 0) end_by_signal(signal);
    try {
      std::rethrow_exception(narrator.unheard);
    } catch (const OutputError& e) {
      if (!kept) throw;
      throw OutputError(std::string(e.what()) + "; stopped " + after + resume);
    }
  }
  narrator.finish();
  if (!ended) {
    if (kept) report(*run);
    std::cout << (kept ? "stopped after step " + std::to_string(run->steps()) + "; " + resume
                       : "stopped; nothing was kept: --out_dir FOLDER keeps a run")
              << "\n";
    flush_output();
    run.reset();
    end_by_signal(signal);
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  std::printf("trained %lld steps in %.1f s\n\n", static_cast<long long>(last - first), took.count());
  show_ending(*task, *run->ending());
  if (kept) report(*run);
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

/// What was given, the lines of --config included. --text FILE says which task it is; so does its bare name.
CommandLine read_command_line(int argc, char** argv) {
  CommandLine line(argc, argv);
  const std::vector<std::string> names = task_names();
  for (CommandLine::Given& given : line.all())
    if (std::find(names.begin(), names.end(), given.name) != names.end()) given = {"--task", given.name, true};
  const std::string config = line.peek("--config", "");
  if (!config.empty())
    line.add_file(config, {"--config", "--resume"}, [](CommandLine::Given& given) {
      if (given.name == "--decay_lr" && (given.value == "true" || given.value == "false"))  // nanoGPT's word for it
        given.name = "--schedule", given.value = given.value == "true" ? "cosine" : "constant";
    });
  for (const char* const option : {"--out_dir", "--resume", "--config", "--text"})
    if (line.peek(option, "?").empty()) throw UsageError(std::string(option) + " needs a path");
  if (line.has("--text") && !line.has("--task") && !line.has("--resume"))
    line.all().push_back({"--task", "text", true});
  if (line.has("--text") && line.peek("--task", "text") != "text") throw UsageError("--text is for --task text");
  return line;
}

/// The settings of the run to resume. Errors: options that contradict it are the user's, the rest its checkpoint's.
RunSettings resumed_settings(const CommandLine& line, const std::string& resume) {
  checked_usage([&] {
    check(!line.has("--out_dir"), "--out_dir begins a run and --resume goes on with one: give one of them");
    check(!line.has("--preset"), "--preset is for new runs");
    check(file_exists(resume) && !newest_checkpoint(resume).empty(), "there is no run in ", resume);
  });
  const SafetensorsFile file(newest_checkpoint(resume));
  RunSettings settings = read_settings(file, line.peek("--text", ""));
  const std::string wanted = line.peek("--task", settings.task);
  checked_usage([&] {
    check(wanted == settings.task, "--task ", wanted, " contradicts the run in ", resume, ", which has ",
          settings.task);
    if (!saved_setting(file, "max_iters"))
      check(line.has("--max_iters") && (settings.task != "text" || line.has("--text")), "the run in ", resume,
            " is of an older mote, which kept max_iters and text in config.json alone: give them");
  });
  settings.run.folder = resume;
  return settings;
}

/// A task's own settings, with its options, on which the other defaults depend.
RunSettings new_settings(const CommandLine& line) {
  const std::string task = line.peek("--task", "copy");
  FieldValues options;
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
  RunSettings settings(task, options);
  settings.run.folder = line.peek("--out_dir", "");
  settings.run.fresh = true;
  return settings;
}

int run_command(int argc, char** argv) {
  const CommandLine line = read_command_line(argc, argv);
  Options options("Trains a small decoder language model on a task and shows what it learned.");
  Command command;
  options.add("this program", command);
  if (line.peek("--task", "") == "list" || (argc == 2 && (line.has("--help") || line.has("-h")))) {
    RunOptions run{.folder = "?"};
    options.add("the run", run);
    options.note(
        "--task NAME --help shows the options of a task, of its model and of its training, with defaults.\n"
        "--text FILE learns from a file: an option of --task text, which need not be said then.");
    return options.parse(argv[0], line) ? list_tasks() : 0;
  }
  const std::string resume = line.peek("--resume", "");
  RunSettings settings =
      resume.empty() ? checked_usage([&] { return new_settings(line); }) : resumed_settings(line, resume);
  options.add("the run", settings.run);
  options.add(
      "--task " + settings.task, [&] { return settings.task_fields(); },
      [&](const std::string& name, const std::string& text) { settings.set_task(name, text); });
  options.add(
      "the model, a GPT", [&] { return settings.model_options(); },
      [&](const std::string& name, const std::string& text) { settings.set_model(name, text); });
  options.add("training", settings.recipe);
  options.context(" for --task " + settings.task);
  if (!options.parse(argv[0], line)) return 0;
  if (command.seeds.empty()) return run_task(command, settings, line);
  const auto [first, last] = checked_usage([&] {
    check(command.resume.empty() && !line.has("--seed"), "--seeds is for new runs, and instead of --seed");
    check(command.jobs >= 1 && command.jobs <= 1000, "jobs ", command.jobs, " must be 1 to 1000");
    return read_seeds(command.seeds);
  });
  new_model(*checked_usage([&] { return settings.make_task(); }), command, settings,
            line);  // before any process is begun
  return train_seeds(settings, first, last, command.jobs) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
