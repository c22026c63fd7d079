// A run that is kept in a folder: checkpoints of all that it depends on, its logs, and where it stands.
#pragma once

#include <chrono>
#include <cmath>
#include <iostream>
#include <optional>
#include <string>

#include "examples/toy_run.h"
#include "train/ema.h"
#include "train/run_log.h"

namespace toy_run {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

class KeptRun {
 public:
  /// Begins a run in the folder, or goes on with the one that is there. Errors: there is one although none should be,
  /// or none although one should; it is another run, or longer than wanted.
  KeptRun(const std::string& path, bool resumes, const RunSettings& settings, const Task& task, Model& model,
          Optimizer& optimizer, EMA* ema, const Generator& data)
      : folder_(path, settings.keeping.keep), task_state_(packed_state(task.state())) {
    run_.add("model", model.module());
    run_.add("optimizer", optimizer);
    if (ema) run_.add("ema", *ema);
    run_.add("data", data);
    run_.add("steps", steps);
    run_.add("log_bytes", log_.bytes);
    run_.add("evaluation_bytes", evaluations_.bytes);
    run_.add("best_score", folder_.best_score);
    run_.add(state_name, task_state_);
    run_.require("settings", fixed_settings(settings));
    const std::string newest = newest_checkpoint(path), config = config_json(settings);
    if (!resumes) {
      check(newest.empty(), "there is a run in ", path, ": go on with it by --resume ", path,
            ", or choose another folder");
      for (const char* const name :
           {"config.json", "log.jsonl", "evaluations.jsonl", "rates.jsonl", "report.html", "loss.svg"})
        check(!file_exists(file(name)), path, " already has a ", name, ": choose another folder",
              ", or go on by --resume ", path, " if it is a run's");
    } else {
      check(!newest.empty() || file_exists(file("config.json")), "there is no run in ", path);
      if (newest.empty())
        std::cout << "there is no checkpoint in " << path << " yet: the run begins\n";
      else
        run_.load(newest);
      saved = !newest.empty() && newest != best_checkpoint(path);
      const Index wanted = settings.recipe.max_iters;
      checked_usage([&] {
        check(steps <= wanted, "the run in ", path, " has taken ", steps, " steps, which is more than --max_iters ",
              wanted);
      });
    }
    write_file(file("config.json"), config);
    log_.open(file("log.jsonl"));
    evaluations_.open(file("evaluations.jsonl"));
    rates_.emplace(file("rates.jsonl"), size_of(file("rates.jsonl")));
  }

  // Neither log has a clock in it: a run that was interrupted writes the same bytes.
  void log(const StepReport& report) { log_.file->append(log_line(report)); }
  /// `done` steps are taken. After the first, the best are kept.
  void log(const EvaluationReport& report, Index done) {
    evaluations_.file->append(log_line(report));
    if (done == 0) return;
    take_down(done);
    folder_.save_best(run_, report.loss, done);
  }
  void save(Index done) {
    take_down(done);
    folder_.save(run_, done);
    saved = true;
    rates_->append(text_of(Json::object({{"step", done}, {"seconds", clock_.seconds()}})));
  }
  const std::string& path() const { return folder_.path(); }
  std::string file(const std::string& name) const { return folder_.file(name); }

  Index steps = 0;     ///< taken so far
  bool saved = false;  ///< whether a checkpoint other than the best is after so many

 private:
  static std::uint64_t size_of(const std::string& path) { return file_exists(path) ? FileReader(path).size() : 0; }

  /// A log, and how much of it belongs to the newest checkpoint.
  struct Log {
    Index bytes = 0;
    std::optional<LogFile> file;
    void open(const std::string& path) {
      if (const std::uint64_t there = size_of(path); there < static_cast<std::uint64_t>(bytes)) {
        std::cout << "warning: " << path.substr(path.rfind('/') + 1) << " has " << there << " bytes instead of "
                  << bytes << " or more: it goes on from here without the steps that are missing\n";
        const std::size_t lines =
            there == 0 ? 0 : read_file(path, there).rfind('\n') + 1;  // half a line spoils the next
        bytes = static_cast<Index>(lines);
      }
      file.emplace(path, static_cast<std::uint64_t>(bytes));
    }
  };
  /// Logs are on the disk before a checkpoint says how long they are.
  void take_down(Index done) {
    steps = done;
    for (Log* const log : {&log_, &evaluations_}) {
      log->file->sync();
      log->bytes = static_cast<Index>(log->file->size());
    }
  }

  RunFolder folder_;
  IntArray task_state_;
  Checkpoint run_;
  Log log_, evaluations_;
  std::optional<LogFile> rates_;
  Stopwatch clock_;
};

}  // namespace toy_run
