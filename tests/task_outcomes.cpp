// Trains tasks by their own recipes and reports whether what they state comes about: task_outcomes TASK ...
// [--seeds N] [--every STEPS] [--lag N] [--OPTION VALUE ...], the options of tasks, models, recipes.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <iostream>

#include "examples/watch_run.h"

using namespace mote;
using namespace toy_run;

namespace {

struct Wish {
  Index first_seed = 1, seeds = 3, every = 0, lag = 0;
  template <class V>
  void visit(V& v) {
    v("first_seed", first_seed, "the first seed");
    v("seeds", seeds, "how many seeds");
    v("every", every, "steps between two evaluations on both splits; 0: only at the end");
    v("lag", lag, "99 % of the held-out questions take at least so many times the steps of those in training");
  }
};

/// Trains with one seed and prints a line; false if the outcome is another one than stated.
bool run(const RunSettings& settings, Index seed, Index every, Index lag) {
  const std::shared_ptr<const Task> task = settings.the_task();
  const std::unique_ptr<Model> model = settings.new_model(*task, Generator(seed));
  const std::unique_ptr<Optimizer> optimizer = make_optimizer(settings.recipe, model->module());
  const Outcome outcome = task->outcome();
  const Generator data(seed + settings.recipe.data_seed);
  FitOptions options = fit_options(settings.recipe);
  Index first[2] = {-1, -1};  // steps after which 99 % are right, in training and in testing
  const auto start = std::chrono::steady_clock::now();
  double loss = 0;
  options.on_step = [&](const StepReport& r) {
    loss = r.loss;
    if (every == 0 || (r.step + 1) % every != 0) return true;
    double share[2];
    for (const Split split : {Split::train, Split::test}) {
      const std::size_t i = split == Split::test;
      share[i] = ask(*model, *task, task->evaluation(outcome.questions, split), 0).share();
      if (share[i] >= 0.99 && first[i] < 0) first[i] = r.step + 1;
    }
    std::printf("  step %lld  loss %.4f  right %.1f %% in training, %.1f %% held out\n",
                static_cast<long long>(r.step + 1), r.loss, 100 * share[0], 100 * share[1]);
    flush_output();
    return true;
  };
  fit(
      *optimizer,
      [&](Index) {
        return model->loss(task->batch(settings.recipe.batch_size, Split::train, data),
                           settings.recipe.label_smoothing);
      },
      options);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  const double share = ask(*model, *task, task->evaluation(outcome.questions), 0).share();
  const bool late = lag == 0 || (first[0] > 0 && first[1] >= lag * first[0]);
  const bool holds = outcome.holds(share) && late;
  std::printf("%-26s seed %lld: %lld steps, %.1f s, loss %.4f, %.2f %% right, %s expected: %s\n",
              settings.general.task.c_str(), static_cast<long long>(seed),
              static_cast<long long>(settings.recipe.max_iters), seconds, loss, 100 * share, text_of(outcome).c_str(),
              holds ? "yes" : "NO");
  if (every > 0)
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
    RunSettings settings(name, options, "");
    checked_usage([&] {
      for (const auto& [option, value] : others)
        if (!set_field(wish, option, value) && !set_field(settings.recipe, option, value))
          settings.set("model", option, value);
    });
    checked_usage([&] {
      check(settings.the_task()->graded(), name, " has no right answers");
      check(settings.recipe.ema_decay == 0 && settings.recipe.gradient_accumulation_steps == 1,
            "ema_decay and gradient_accumulation_steps are for train");
    });
    for (Index seed = wish.first_seed; seed < wish.first_seed + wish.seeds; ++seed)
      all = run(settings, seed, wish.every, wish.lag) && all;
  }
  return all ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  return run_program(argv[0], [&] { return run_command(argc, argv); });
}
