// train --seeds 1-10: a run with several seeds, several at a time; the worst and the median outcome.
#pragma once

#include <algorithm>
#include <chrono>
#include <future>
#include <iostream>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "engine/base/number_text.h"
#include "engine/base/parallel.h"
#include "engine/io/text/table.h"
#include "examples/program.h"
#include "examples/saved_run.h"

/// "1-10", or one seed. Errors: another text.
inline std::pair<mote::Index, mote::Index> read_seeds(const std::string& text) {
  const std::size_t dash = text.find('-');
  mote::Index first = 0, last = 0;
  mote::detail::read_field("--seeds", text.substr(0, dash), first);
  mote::detail::read_field("--seeds", dash == text.npos ? text : text.substr(dash + 1), last);
  mote::check(first >= 0 && first <= last, "--seeds ", text, " must be two seeds, the lower one first: 1-10");
  return {first, last};
}

/// Trains with one seed. Returns the line of a table, and its score: the share of right answers, or a loss.
inline std::pair<mote::TableRow, double> train_seed(RunSettings settings, mote::Index seed) {
  settings.run.seed = seed;
  if (!settings.run.folder.empty()) settings.run.folder += "/seed-" + std::to_string(seed);
  const auto begin = std::chrono::steady_clock::now();
  const std::unique_ptr<mote::Task> task = settings.make_task();
  mote::GPT model = settings.new_model(*task, mote::Generator(seed));
  mote::Run run(*task, mote::subject_of(model), settings.recipe, settings.run);
  double loss = 0;
  run.train([&](const mote::RunReport& r) {
    if (const auto* const evaluation = std::get_if<mote::EvaluationReport>(&r)) loss = evaluation->loss;
  });
  if (!settings.run.folder.empty()) write_report(run);
  const std::optional<mote::Answers>& answers = run.ending()->answers;
  if (!answers) loss = run.ending()->loss;
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return {{std::to_string(seed), mote::fixed_text(loss, 4),
           answers ? mote::fixed_text(100 * answers->fraction(), 1) + " %" : "-", mote::fixed_text(took.count(), 1)},
          answers ? answers->fraction() : loss};
}

/// Trains with every seed from `first` to `last`, `jobs` at a time, each on a thread, and prints what came of each,
/// worst and median. Returns whether all came to what the task states. Errors: those of a run that failed.
inline bool train_seeds(const RunSettings& settings, mote::Index first, mote::Index last, mote::Index jobs) {
  const std::unique_ptr<mote::Task> task = settings.make_task();
  const mote::TableRow titles{"seed", "  loss", "  right", "seconds"};
  std::cout << settings.task << ": " << task->description() << "\n\n" << mote::table_line(titles, titles);
  std::mutex mutex;
  mote::Index next = first;
  std::vector<double> scores;
  const auto work = [&] {
    for (std::unique_lock lock(mutex); next <= last;) {
      const mote::Index seed = next++;
      flush_output();
      lock.unlock();
      try {
        const auto [line, score] = train_seed(settings, seed);
        lock.lock();
        scores.push_back(score);
        std::cout << mote::table_line(line, titles, "lrrr");
      } catch (const mote::Error& e) {
        lock.lock();
        next = last + 1;  // the others end with the seeds that they have
        throw mote::Error("the run with seed " + std::to_string(seed) + " failed: " + e.what());
      }
    }
  };
  jobs = std::min(jobs, last - first + 1);
  mote::set_threads(static_cast<int>(std::max<mote::Index>(1, mote::threads() / jobs)));
  std::vector<std::future<void>> workers;
  for (mote::Index job = 0; job < jobs; ++job) workers.push_back(std::async(std::launch::async, work));
  for (std::future<void>& worker : workers) worker.get();
  std::sort(scores.begin(), scores.end());
  const double worst = task->graded() ? scores.front() : scores.back();
  const double median = (scores[(scores.size() - 1) / 2] + scores[scores.size() / 2]) / 2;
  const mote::Outcome stated = task->outcome();
  if (!task->graded()) {
    std::cout << "\nheld-out loss: worst " << mote::fixed_text(worst, 4) << ", median " << mote::fixed_text(median, 4)
              << "; stated: <= " << mote::fixed_text(stated.loss, 2) << "\n";
    return stated.loss == 0 || worst <= stated.loss;
  }
  const bool holds = stated.holds(scores.front()) && stated.holds(scores.back());
  std::cout << "\nright: worst " << mote::fixed_text(100 * worst, 1) << " %, median "
            << mote::fixed_text(100 * median, 1) << " %; stated: " << text_of(stated)
            << (holds ? "\n" : ", which does not hold\n");
  return holds;
}
