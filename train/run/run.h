// Run, a training from its first step to its report: evaluations on the way, checkpoints, and where it was interrupted,
// on from there.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "train/loop/ema.h"
#include "train/loop/recipe.h"
#include "train/run/evaluation.h"
#include "train/run/run_folder.h"
#include "train/run/run_state.h"

namespace mote {

/// A model that learns from data as a recipe says. With a folder the run is kept there, and goes on where an
/// interrupted one stopped: it ends in the bits of one that never was.
///
/// In the folder: checkpoints (train/run/run_folder.h), log.jsonl and evaluations.jsonl, which say nothing of time, so
/// that a run that was interrupted writes the same bytes, rates.jsonl, which does, and for people config.json and
/// report.html.
class Run {
 public:
  /// Data and subject must outlive it. A new run may begin where another program's has come to: `from`, beside the
  /// weights that its subject has. Errors: settings that cannot be; a folder that another run uses, that holds other
  /// files, or a run with other settings, or one that has taken more steps.
  Run(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options = {},
      const std::optional<RunState>& from = {});
  Run(Data&&, Subject, const Recipe&, const RunOptions& = {},
      const std::optional<RunState>& = {}) = delete;  // data stay
  Run(const Run&) = delete;

  /// Trains to the end, and lets the model answer there. `see` receives a report of the first, the last, and every
  /// `every`-th step, and of all else; if it returns false, the run stops after this step, saved if it is kept. Returns
  /// whether it came to its end.
  bool train(const std::function<bool(const RunReport&)>& see, Integer every = 100);
  template <class See>
  requires std::is_void_v<std::invoke_result_t<const See&, const RunReport&>>
  bool train(const See& see, Integer every = 100) {
    return train(std::function<bool(const RunReport&)>([&see](const RunReport& r) { return see(r), true; }), every);
  }

  Index steps() const { return steps_; }  ///< taken so far
  const Data& data() const { return data_; }
  const Subject& subject() const { return subject_; }
  const RunOptions& options() const { return options_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  const Evaluator& evaluator() const { return *evaluator_; }
  const std::vector<SettingsGroup>& settings() const { return settings_; }
  /// Its folder. Errors: it is not kept.
  const RunFolder& folder() const;
  /// Once it has come to its end.
  const std::optional<RunEnding>& ending() const { return ending_; }

 private:
  /// A log, and how much of it belongs to the newest checkpoint.
  struct Log {
    Index bytes = 0;
    std::optional<LogFile> file = {};
  };
  using See = std::function<bool(const RunReport&)>;
  void go_on_from(const RunState& state);
  void begin_or_resume(std::optional<double> best_score);
  void open(Log& log, const char* name);
  template <class Look>
  auto evaluated(const Look& look) const;
  EvaluationReport evaluate(Index done);
  void sync_logs(Index done);
  void save(Index done);

  const Data& data_;
  Subject subject_;
  Recipe recipe_;
  RunOptions options_;
  FitOptions fit_;
  std::vector<SettingsGroup> settings_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<EMA> ema_;  ///< where the recipe asks for averaged weights
  Generator random_;          ///< that batches are drawn from
  std::optional<Evaluator> evaluator_;
  std::optional<RunEnding> ending_;

  Index steps_ = 0, evaluated_ = -1;  ///< steps at the last evaluation
  bool saved_ = false;                ///< whether a checkpoint other than the best has all of that
  std::optional<RunFolder> folder_;
  Checkpoint checkpoint_;
  Log log_, evaluations_;
  std::optional<LogFile> rates_;
  std::vector<RunWarning> warnings_;  ///< to be told when it trains
  double began_ = 0;
};

/// Writes report.html, loss.svg and heads.svg into the folder of a run. No clock is in them: they are the same for one
/// that was interrupted. Errors: a run that is not kept; a log that somebody has changed.
void write_report(const Run& run);

}  // namespace mote
