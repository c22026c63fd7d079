// A run that is kept in a folder: checkpoints of all that it depends on, its logs, and where it stands.
#pragma once

#include <algorithm>
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
    run_.add("evaluated", evaluated);
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
    rates_.emplace(file("rates.jsonl"), whole_lines(file("rates.jsonl"), ~std::uint64_t(0)));
  }

  // Neither log has a clock in it: a run that was interrupted writes the same bytes.
  void log(const StepReport& report) { log_.file->append(log_line(report)); }
  /// `done` steps are taken. After the first, the best are kept.
  void log(const EvaluationReport& report, Index done) {
    evaluations_.file->append(log_line(report));
    evaluated = done;
    saved = false;
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

  Index steps = 0;       ///< taken so far
  Index evaluated = -1;  ///< those that were taken at the last evaluation
  bool saved = false;    ///< whether a checkpoint other than the best has all of that

 private:
  /// How much of a log is whole lines within its first `most` bytes: half a one would spoil the next.
  static std::uint64_t whole_lines(const std::string& path, std::uint64_t most) {
    if (!file_exists(path)) return 0;
    const FileReader reader(path);
    std::string text(static_cast<std::size_t>(std::min(reader.size(), most)), '\0');
    if (!text.empty()) reader.read(0, text.data(), text.size());
    return text.rfind('\n') + 1;
  }

  /// A log, and how much of it belongs to the newest checkpoint.
  struct Log {
    Index bytes = 0;
    std::optional<LogFile> file;
    void open(const std::string& path) {
      const std::uint64_t wanted = static_cast<std::uint64_t>(bytes), whole = whole_lines(path, wanted);
      if (whole != wanted)
        std::cout << "warning: " << path.substr(path.rfind('/') + 1) << " has " << whole << " bytes of whole "
                  << "lines instead of " << wanted << ": it goes on from here without the steps that are missing\n";
      file.emplace(path, whole);
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
