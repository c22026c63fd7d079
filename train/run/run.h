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
/// The folder has checkpoints (train/run/run_folder.h), config.json with all settings, about.json, log.jsonl and
/// evaluations.jsonl. They say nothing of time, so an interrupted run writes the same bytes. rates.jsonl has the times,
/// and report.html is for people.
class Run {
 public:
  /// Data and the subject's model must outlive it. A new run may begin where another program's has come to: `from`,
  /// beside the weights that its subject has. Errors: settings that cannot be; a folder that another run uses, that
  /// holds other files, a run of another model, with other settings or data, or one that has taken more steps.
  Run(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options = {},
      const std::optional<RunState>& from = {});
  Run(const Data&&, Subject, const Recipe&, const RunOptions& = {},
      const std::optional<RunState>& = {}) = delete;  // data stay
  Run(const Run&) = delete;

  /// Does what comes next. First it looks at the model as it is. Then it takes one training step after the other, each
  /// with its evaluation and its checkpoint. At last it asks the trained model. A StopSignal ends these: then nothing
  /// has happened, and the next call asks again. False: there was nothing left to do.
  ///
  ///     while (run.step())
  ///       for (const RunEvent& event : run.events()) std::cout << event << "\n";
  bool step();
  /// What happened in the last step().
  const std::vector<RunEvent>& events() const { return events_; }
  /// Saves a checkpoint of now, if the run is kept and there is none: for whoever stops between two steps.
  void save();

  /// Takes all steps that are left. `see` receives the report of the first, the last, and every `every`-th training
  /// step, and all other events but checkpoints; if it returns false, the run is saved, and stops. Returns whether it
  /// came to its end.
  bool train(const std::function<bool(const RunEvent&)>& see, Integer every = 100);
  template <class See>
  requires std::is_void_v<std::invoke_result_t<const See&, const RunEvent&>>
  bool train(const See& see, Integer every = 100) {
    return train(std::function<bool(const RunEvent&)>([&see](const RunEvent& e) { return see(e), true; }), every);
  }

  Index steps() const { return steps_; }  ///< training steps taken so far
  /// What it has come to besides its weights, for a run that goes on from here. Its arrays stay what they are.
  RunState state() const;
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
  std::unique_ptr<EMA> ema_;  ///< where the recipe asks for averaged weights
  Generator random_;          ///< that batches are drawn from
  std::optional<Evaluator> evaluator_;

  Index steps_ = 0;
  Index first_ = 0;       ///< steps that earlier processes have taken
  Index evaluated_ = -1;  ///< steps at the last evaluation
  bool looked_ = false;   ///< whether step() has been called
  std::vector<RunEvent> events_;
  std::optional<RunEnding> ending_;
  bool evaluated_at_end_ = false;  // by this process

  std::optional<RunFolder> folder_;
  Checkpoint checkpoint_;
  Index saved_ = -1;  ///< steps of the newest checkpoint other than the best
  double loss_ = 0;   ///< loss_of_one_batch() at a checkpoint
  Log log_, evaluations_;
  std::optional<LogFile> rates_;
  double began_ = 0;
};

}  // namespace mote
