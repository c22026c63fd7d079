// Trains tasks by their own recipes and reports whether what they state comes about: task_outcomes TASK ...
// [--seeds N] [--lag N] [--OPTION VALUE ...], the options of tasks, models, recipes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "examples/program.h"
#include "examples/saved_run.h"

using namespace mote;

namespace {

struct Wish {
  Index first_seed = 1, seeds = 3, lag = 0;
  template <class V>
  void visit(V& v) {
    v("first_seed", first_seed, "the first seed");
    v("seeds", seeds, "how many seeds");
    v("lag", lag, "99 % of the held-out questions take at least so many times the steps of those in training");
  }
};

/// Trains with one seed and prints a line; false if the outcome is another one than stated.
bool run(const RunSettings& settings, Index seed, Index lag) {
  const std::unique_ptr<Task> task = settings.make_task();
  GPT model = settings.new_model(*task, Generator(seed));
  Run run(*task, subject_of(model), settings.recipe, {.seed = seed, .samples = 0});
  Index first[2] = {-1, -1};  // steps after which 99 % are right, in training and in testing
  double loss = 0;
  const auto start = std::chrono::steady_clock::now();
  run.train([&](const RunReport& report) {
    if (const auto* const step = std::get_if<StepReport>(&report)) loss = step->loss;
    const auto* const r = std::get_if<EvaluationReport>(&report);
    if (!r) return;
    if (first[0] < 0 && r->train_exact_match.value_or(0) >= 0.99) first[0] = r->step;
    if (first[1] < 0 && r->exact_match.value_or(0) >= 0.99) first[1] = r->step;
  });
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const Outcome outcome = task->outcome();
  const double fraction = run.ending()->answers->fraction();
  const bool late = lag == 0 || (first[0] > 0 && first[1] >= lag * first[0]);
  const bool holds = outcome.holds(fraction) && late;
  std::printf("%-26s seed %lld: %lld steps, %.1f s, loss %.4f, %.2f %% right, %s expected: %s\n", settings.task.c_str(),
              static_cast<long long>(seed), static_cast<long long>(settings.recipe.max_iters), seconds, loss,
              100 * fraction, text_of(outcome).c_str(), holds ? "yes" : "NO");
  if (lag > 0)
    std::printf("  99 %% right in training after %lld steps, held out after %lld\n", static_cast<long long>(first[0]),
                static_cast<long long>(first[1]));
  flush_output();
  return holds;
}

int run_command(int argc, char** argv) {
  Wish wish;
  std::vector<std::string> names;
  int at = 1;
  for (; at < argc && std::string(argv[at]).rfind("--", 0) != 0; ++at) names.emplace_back(argv[at]);
  if (names.empty()) throw UsageError("which task? task_outcomes TASK ... [--OPTION VALUE ...]");
  for (int i = at; i < argc; i += 2)
    if (i + 1 == argc || std::string(argv[i]).rfind("--", 0) != 0)
      throw UsageError(std::string(argv[i]) + " is no option with its value");
  bool all = true;
  for (const std::string& name : names) {
    FieldValues options, others;
    const std::vector<Field> known = task_options(name);
    for (int i = at; i + 1 < argc; i += 2) {
      const std::string option = std::string(argv[i]).substr(2);
      const bool of_task = std::any_of(known.begin(), known.end(), [&](const Field& f) { return f.name == option; });
      (of_task ? options : others).emplace_back(option, argv[i + 1]);
    }
    RunSettings settings(name, options);
    settings.recipe.eval_interval = 0;
    checked_usage([&] {
      for (const auto& [option, value] : others)
        if (!set_field(wish, option, value) && !set_field(settings.recipe, option, value))
          settings.set_model(option, value);
      check(settings.make_task()->graded(), name, " has no right answers");
    });
    for (Index seed = wish.first_seed; seed < wish.first_seed + wish.seeds; ++seed)
      all = run(settings, seed, wish.lag) && all;
  }
  return all ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
