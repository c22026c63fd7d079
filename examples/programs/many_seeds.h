// train --seeds 1-10: trains with several seeds, several of them at a time, and prints the worst and the median
// outcome. With --out_dir the runs are kept, and the same command resumes runs that were stopped.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <functional>
#include <future>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "engine/base/table.h"
#include "examples/programs/program.h"
#include "examples/programs/saved_run.h"
#include "examples/programs/words.h"
#include "train/report/compare.h"

namespace mote {

/// The median: the number in the middle, or the mean of the two in the middle. It is NaN if there are no numbers.
inline double median(std::vector<double> x) {
  if (x.empty()) return NAN;
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

/// Trains with one seed, or resumes the run in the folder of that seed. Returns a row for the table of all seeds, and
/// the score of the run. The score is the share of right answers, or the loss if answers are not graded. Returns
/// nothing if a signal stopped the run. A stopped run that has a folder is saved.
inline std::optional<std::pair<TableRow, double>> train_seed(RunSettings settings, const Task& task, Index seed) {
  settings.run.seed = seed;
  const std::string folder = settings.run.folder.empty() ? "" : settings.run.folder + "/seed-" + std::to_string(seed);
  settings.run.folder = folder;
  const auto begin = std::chrono::steady_clock::now();
  GPT model = settings.new_model(task, Generator(seed));
  Run run(task, settings.subject(model), settings.recipe, settings.run);
  double loss = 0;
  const std::function<bool(const RunEvent&)> see = [&](const RunEvent& event) {
    if (const auto* const evaluation = std::get_if<EvaluationReport>(&event)) loss = evaluation->loss;
    return StopSignal::received() == 0;
  };
  if (!run.train(see, 1)) return {};
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  double seconds = took.count();
  if (!folder.empty()) {
    write_report(folder);
    const RunRecord record = read_run(folder);
    seconds = record.seconds;  // the seconds of all processes that trained this run
    if (!record.evaluations.empty()) loss = record.evaluations.back().loss;
  }
  const std::optional<Answers>& answers = run.ending()->answers;
  if (!answers) loss = run.ending()->loss;
  return {{{std::to_string(seed), fixed_text(loss, 4), answers ? percent_text(answers->fraction(), 1) : "-",
            fixed_text(seconds, 1)},
           answers ? answers->fraction() : loss}};
}

/// Trains with every seed from `first` to `last`, `jobs` at a time, each on a thread. Prints the outcome of each seed,
/// the worst and the median. Returns whether all seeds reach the outcome that the task states. The task states nothing
/// for settings other than its own, so the result is true with such settings. Errors: those of a run that failed.
inline bool train_seeds(const RunSettings& settings, const Task& task, Index first, Index last, Index jobs) {
  const TableRow titles{"seed", "  loss", "  right", "seconds"};
  std::cout << settings.task << ": " << task.description() << "\n\n" << table_line(titles, titles) << std::flush;
  const StopSignal stop(stopping_text());
  std::mutex mutex;
  std::atomic<Index> next = first;
  std::vector<double> scores;
  const auto work = [&] {
    for (Index seed = next++; seed <= last && StopSignal::received() == 0; seed = next++) {
      try {
        const auto trained = train_seed(settings, task, seed);
        if (!trained) return;
        const std::lock_guard lock(mutex);
        scores.push_back(trained->second);
        std::cout << table_line(trained->first, titles, "lrrr") << std::flush;
      } catch (const Error& e) {
        next = last + 1;  // the other threads finish the seeds that they have begun
        throw Error("the run with seed " + std::to_string(seed) + " failed: " + e.what());
      }
    }
  };
  jobs = std::min(jobs, last - first + 1);
  set_threads(static_cast<int>(std::max<Index>(1, threads() / jobs)));
  std::vector<std::future<void>> workers;
  for (Index job = 0; job < jobs; ++job) workers.push_back(std::async(std::launch::async, work));
  for (std::future<void>& worker : workers) worker.get();
  if (const int signal = StopSignal::received(); signal != 0) {
    const std::string& folder = settings.run.folder;
    std::cout << (folder.empty() ? "stopped; nothing was kept: --out_dir FOLDER keeps the runs\n"
                                 : "stopped; the same command goes on from " + folder + "\n");
    flush_output();
    end_by_signal(signal);
  }

  std::sort(scores.begin(), scores.end());
  const bool graded = task.graded();
  const double worst = graded ? scores.front() : scores.back();
  const Outcome stated = task.outcome();
  const bool own = settings.own(), holds = stated.holds(scores.front()) && stated.holds(scores.back());
  const auto text = [&](double score) { return graded ? percent_text(score, 1) : fixed_text(score, 4); };
  std::cout << (graded ? "\nright" : "\nheld-out loss") << ": worst " << text(worst) << ", median "
            << text(median(scores)) << (own ? "; stated: " : "; stated for the task's own settings: ")
            << text_of(stated) << (own && !holds ? ", which does not hold\n" : "\n");
  return holds || !own;
}

}  // namespace mote
