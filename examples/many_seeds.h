// train --seeds 1-10: a run with several seeds, in processes beside each other; the worst and the median outcome.
#pragma once

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "engine/base/parallel.h"
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

/// What came of one seed; it goes through a pipe.
struct SeedResult {
  double seconds = 0, loss = 0, right = -1;  ///< right: the fraction of questions, -1 if there are none
};

/// Trains with one seed, in a process of its own, and writes what came of it.
[[noreturn]] inline void train_seed(RunSettings settings, mote::Index seed, int pipe) {
  const int code = run_program("train", [&] {
    settings.run.seed = seed;
    if (!settings.run.folder.empty()) settings.run.folder += "/seed-" + std::to_string(seed);
    const auto begin = std::chrono::steady_clock::now();
    const std::unique_ptr<mote::Task> task = settings.make_task();
    mote::GPT model = settings.new_model(*task, mote::Generator(seed));
    mote::Run run(*task, mote::subject_of(model), settings.recipe, settings.run);
    SeedResult result;
    run.train([&](const mote::RunReport& r) {
      if (const auto* const evaluation = std::get_if<mote::EvaluationReport>(&r)) result.loss = evaluation->loss;
    });
    if (run.ending()->answers) result.right = run.ending()->answers->fraction();
    if (!run.ending()->answers) result.loss = run.ending()->loss;
    if (!settings.run.folder.empty()) write_report(run);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    mote::check(write(pipe, &result, sizeof result) == sizeof result, "a result could not be handed over");
    return 0;
  });
  std::_Exit(code);
}

/// Trains with every seed from `first` to `last`, `jobs` at a time, and prints what came of each, worst and median.
/// Returns whether all came to what the task states. Errors: a run that failed, which has said why.
inline bool train_seeds(const RunSettings& settings, mote::Index first, mote::Index last, mote::Index jobs) {
  const std::unique_ptr<mote::Task> task = settings.make_task();
  const mote::Outcome stated = task->outcome();
  const int threads = std::max(1, static_cast<int>(std::thread::hardware_concurrency() / static_cast<unsigned>(jobs)));
  std::map<pid_t, std::pair<mote::Index, int>> running;  // seed, and where its result comes from
  std::map<mote::Index, SeedResult> results;
  std::cout << settings.task << ": " << task->description() << "\n\nseed   loss     right    seconds\n";
  for (mote::Index next = first; next <= last || !running.empty();) {
    if (next <= last && std::ssize(running) < jobs) {
      int ends[2];
      mote::check(pipe(ends) == 0, "there is no pipe left");
      flush_output();
      const pid_t child = fork();
      mote::check(child >= 0, "no process can be started");
      if (child == 0) {
        if (jobs > 1) mote::set_threads(threads);
        train_seed(settings, next, ends[1]);
      }
      close(ends[1]);
      running[child] = {next++, ends[0]};
      continue;
    }
    int status = 0;
    const pid_t child = waitpid(-1, &status, 0);
    if (!running.contains(child)) continue;
    const auto [seed, from] = running[child];
    running.erase(child);
    SeedResult& r = results[seed];
    const bool whole = read(from, &r, sizeof r) == sizeof r;
    close(from);
    mote::check(whole && WIFEXITED(status) && WEXITSTATUS(status) == 0, "the run with seed ", seed, " failed");
    std::printf("%-6lld %-8.4f ", static_cast<long long>(seed), r.loss);
    if (r.right >= 0) std::printf("%5.1f %%  ", 100 * r.right);
    std::printf("%s%.1f\n", r.right >= 0 ? "" : "-        ", r.seconds);
  }
  std::vector<double> right, loss;
  for (const auto& [seed, r] : results) right.push_back(r.right), loss.push_back(r.loss);
  std::sort(right.begin(), right.end());
  std::sort(loss.begin(), loss.end());
  const auto median = [](const std::vector<double>& x) { return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2; };
  if (!task->graded()) {
    std::printf("\nheld-out loss: worst %.4f, median %.4f; stated: <= %.2f\n", loss.back(), median(loss), stated.loss);
    return stated.loss == 0 || loss.back() <= stated.loss;
  }
  const bool holds = stated.holds(right.front()) && stated.holds(right.back());
  std::printf("\nright: worst %.1f %%, median %.1f %%; stated: %s%s\n", 100 * right.front(), 100 * median(right),
              text_of(stated).c_str(), holds ? "" : ", which does not hold");
  return holds;
}
