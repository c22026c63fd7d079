// train --seeds 1-10: a run with several seeds, several at a time; the worst and the median outcome.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
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

namespace mote {

/// "1-10", or one seed. Errors: another text, which the message says is this word's.
inline std::pair<Index, Index> read_seeds(const std::string& text, const std::string& word = "--seeds") {
  const std::size_t dash = text.find('-');
  Index first = 0, last = 0;
  detail::read_field(word.c_str(), text.substr(0, dash), first);
  detail::read_field(word.c_str(), dash == text.npos ? text : text.substr(dash + 1), last);
  check(first >= 0 && first <= last, word, " ", text, " must be two seeds, the lower one first: 1-10");
  return {first, last};
}

/// The value in the middle; of an even number, the mean of the two; of none, NaN.
inline double median(std::vector<double> x) {
  if (x.empty()) return NAN;
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

/// Trains with one seed. Returns the line of a table, and its score: the share of right answers, or a loss.
inline std::pair<TableRow, double> train_seed(RunSettings settings, Index seed) {
  settings.run.seed = seed;
  if (!settings.run.folder.empty()) settings.run.folder += "/seed-" + std::to_string(seed);
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<Task> task = settings.make_task();
  GPT model = settings.new_model(*task, Generator(seed));
  Run run(*task, subject_of(model), settings.recipe, settings.run);
  double loss = 0;
  run.train([&](const RunReport& r) {
    if (const auto* const evaluation = std::get_if<EvaluationReport>(&r)) loss = evaluation->loss;
  });
  if (!settings.run.folder.empty()) write_report(run);
  const std::optional<Answers>& answers = run.ending()->answers;
  if (!answers) loss = run.ending()->loss;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return {{std::to_string(seed), fixed_text(loss, 4), answers ? fixed_text(100 * answers->fraction(), 1) + " %" : "-",
           fixed_text(took.count(), 1)},
          answers ? answers->fraction() : loss};
}

/// Trains with every seed from `first` to `last`, `jobs` at a time, each on a thread, and prints what came of each,
/// worst and median. Returns whether all came to what the task states. Errors: those of a run that failed.
inline bool train_seeds(const RunSettings& settings, Index first, Index last, Index jobs) {
  const std::unique_ptr<Task> task = settings.make_task();
  const TableRow titles{"seed", "  loss", "  right", "seconds"};
  std::cout << settings.task << ": " << task->description() << "\n\n" << table_line(titles, titles);
  std::mutex mutex;
  std::atomic<Index> next = first;
  std::vector<double> scores;
  const auto work = [&] {
    for (Index seed = next++; seed <= last; seed = next++) {
      try {
        const auto [line, score] = train_seed(settings, seed);
        const std::lock_guard lock(mutex);
        scores.push_back(score);
        std::cout << table_line(line, titles, "lrrr") << std::flush;
      } catch (const Error& e) {
        next = last + 1;  // the others end with the seeds that they have
        throw Error("the run with seed " + std::to_string(seed) + " failed: " + e.what());
      }
    }
  };
  jobs = std::min(jobs, last - first + 1);
  set_threads(static_cast<int>(std::max<Index>(1, threads() / jobs)));
  std::vector<std::future<void>> workers;
  for (Index job = 0; job < jobs; ++job) workers.push_back(std::async(std::launch::async, work));
  for (std::future<void>& worker : workers) worker.get();
  std::sort(scores.begin(), scores.end());
  const bool graded = task->graded();
  const double worst = graded ? scores.front() : scores.back();
  const Outcome stated = task->outcome();
  const bool holds = stated.holds(scores.front()) && stated.holds(scores.back());
  const auto text = [&](double score) { return graded ? fixed_text(100 * score, 1) + " %" : fixed_text(score, 4); };
  std::cout << (graded ? "\nright" : "\nheld-out loss") << ": worst " << text(worst) << ", median "
            << text(median(scores)) << "; stated: " << text_of(stated) << (holds ? "\n" : ", which does not hold\n");
  return holds;
}

}  // namespace mote
