// Run, a training from its first step to its report, with evaluations and checkpoints. An interrupted run can be
// resumed.
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

/// A run: a model learns from data as a recipe says. With a folder the run is saved there, and an interrupted run is
/// resumed from there. A resumed run ends with the same bits as one that was never interrupted.
///
/// The folder has checkpoints (train/run/run_folder.h), config.json with all settings, about.json, log.jsonl and
/// evaluations.jsonl. These files contain no times, so an interrupted and resumed run writes the same bytes.
/// rates.jsonl has the times, and report.html is for people.
class Run {
 public:
  /// Data and the subject's model must outlive the run. A new run may continue a run of another program: `from` is that
  /// run's state, and the subject's model already has its weights. Errors: invalid settings; a folder that another
  /// process uses; a folder without a run that has a file of a run's name, such as log.jsonl; a folder with a run of
  /// another model, of other settings or of other data; a run with more steps than max_iters. After an error the model
  /// may have the weights of the run in the folder.
  Run(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options = {},
      const std::optional<RunState>& from = {});
  Run(const Data&&, Subject, const Recipe&, const RunOptions& = {},
      const std::optional<RunState>& = {}) = delete;  // the data must outlive the run
  Run(const Run&) = delete;

  /// Does the next part of the run, and returns false if nothing was left to do. First the initial model is
  /// evaluated, if that is due. Then each call takes one training step, with its evaluation and its checkpoint if
  /// they are due. At last comes the final evaluation. A signal to a StopSignal interrupts the final evaluation. Then
  /// step() returns true, events() is empty, and the next call begins the final evaluation again. Errors: an earlier
  /// call has failed. Its batch is drawn, so the run would go on to other bits; a new Run of the folder goes on from
  /// the newest checkpoint.
  ///
  ///     while (run.step())
  ///       for (const RunEvent& event : run.events()) std::cout << event << "\n";
  bool step();
  /// The events of the last step().
  const std::vector<RunEvent>& events() const { return events_; }
  /// Saves a checkpoint now, for a caller that stops between two steps. Does nothing without a folder, or if this step
  /// is saved already. Errors: an earlier step() has failed.
  void save();

  /// Takes all steps that are left, and makes the final evaluation. `see` receives the reports of the first, the last
  /// and every `every`-th training step, and all other events but checkpoints. If `see` returns false, the run is
  /// saved and stops. Returns whether the run came to its end.
  bool train(const std::function<bool(const RunEvent&)>& see, Integer every = 100);
  template <class See>
  requires std::is_void_v<std::invoke_result_t<const See&, const RunEvent&>>
  bool train(const See& see, Integer every = 100) {
    return train(std::function<bool(const RunEvent&)>([&see](const RunEvent& e) { return see(e), true; }), every);
  }

  Index steps() const { return steps_; }  ///< training steps taken so far
  /// Returns the state of the run besides its weights, for another run that continues from this step. Later steps do
  /// not change the arrays in the returned state.
  RunState state() const;
  const Data& data() const { return data_; }
  const Subject& subject() const { return subject_; }
  const RunOptions& options() const { return options_; }
  const Optimizer& optimizer() const { return *optimizer_; }
  const Evaluator& evaluator() const { return *evaluator_; }
  const std::vector<SettingsGroup>& settings() const { return settings_; }
  /// The folder of the run. Errors: the run has no folder.
  const RunFolder& folder() const;
  /// The final evaluation, once the run has come to its end.
  const std::optional<RunEnding>& ending() const { return ending_; }

 private:
  /// A log file, and its length in bytes at the newest checkpoint.
  struct Log {
    Index bytes = 0;
    std::optional<LogFile> file = {};
  };
  void go_on_from(const RunState& state);
  void begin_or_resume(std::optional<double> best_score);
  void check_same_loss(const SafetensorsFile& checkpoint) const;
  void open(Log& log, const char* name);

  void look();
  void train_step();
  void end();
  void evaluate();
  template <class Look>
  auto evaluated(const Look& look) const;
  void check_not_failed() const;
  bool saves_at(Index steps) const;
  double loss_of_one_batch() const;
  void prepare_checkpoint();

  const Data& data_;
  Subject subject_;
  Recipe recipe_;
  RunOptions options_;
  FitOptions fit_;
  std::vector<SettingsGroup> settings_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<EMA> ema_;  ///< null unless the recipe asks for averaged weights
  Generator random_;          ///< the stream that batches are drawn from
  std::optional<Evaluator> evaluator_;

  Index steps_ = 0;
  Index first_ = 0;       ///< steps that the run had taken when this process began
  Index evaluated_ = -1;  ///< steps at the last regular evaluation; -1: none yet
  bool looked_ = false;   ///< whether step() has been called
  bool failed_ = false;   ///< whether a step or an evaluation has begun and not ended, as after an exception in it
  std::vector<RunEvent> events_;
  std::optional<RunEnding> ending_;
  bool evaluated_at_end_ = false;  // whether this process has made the extra evaluation at the end

  std::optional<RunFolder> folder_;
  Checkpoint checkpoint_;
  Index saved_ = -1;  ///< steps at the newest regular checkpoint; -1: none
  double loss_ = 0;   ///< loss_of_one_batch() at the newest checkpoint
  Log log_, evaluations_;
  std::optional<LogFile> rates_;
  double began_ = 0;
};

}  // namespace mote
