// Evaluator, which measures a model during a run and at its end: held-out loss, questions, samples, heads.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "train/loop/recipe.h"
#include "train/run/log.h"
#include "train/run/settings.h"
#include "train/run/subject.h"

namespace mote {

/// Asks a model all questions, and keeps the first `show` answers and the first `mistakes` wrong ones. `before_each`
/// is called before every 250 questions. An exception from it ends the asking.
Answers ask(
    const Subject& subject, const Data& data, const Questions& questions, Index show, Index mistakes = 0,
    const std::function<void()>& before_each = [] {});

/// Evaluates the model of one run, always on the same data. The data are drawn from streams of their own and the model
/// is in evaluation mode, so an evaluation does not change the run. Data, recipe and options must outlive the
/// Evaluator.
class Evaluator {
 public:
  /// If `with_heads` is true, evaluations also report what all heads attend to on one held-out example.
  Evaluator(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options, bool with_heads);

  EvaluationReport operator()(Index step) const;
  /// The final evaluation. It asks as many questions as RunOptions::sequences says. For data without right answers it
  /// takes the mean loss over all held-out data, or over more batches than operator() does. `before_each` is called
  /// before every 250 questions and before each batch.
  RunEnding ending(
      Index step, const std::function<void()>& before_each = [] {}) const;
  /// The same as ending(), or nothing if a StopSignal receives a signal meanwhile.
  std::optional<RunEnding> ending_unless_stopped(Index step) const;
  /// The tokens of the example on which evaluations report heads. Empty if the inputs are values.
  std::vector<std::string> tokens() const;

 private:
  bool has_tokens() const { return example_.ids.defined() && example_.ids.rank() == 2; }
  bool answers() const { return data_.graded() && subject_.answer; }
  double loss_of(
      const std::vector<Batch>& batches, const std::function<void()>& before_each = [] {}) const;
  std::vector<EvaluationReport::Sample> continuations() const;
  std::vector<Array> heads() const;

  const Data& data_;
  Subject subject_;
  const Recipe& recipe_;
  const RunOptions& options_;
  std::vector<Batch> batches_;
  Questions held_out_, trained_on_;
  Batch example_;        // one held-out example, on which heads are reported
  Index positions_ = 0;  // how many of the last queries and keys an evaluation reports; 0: it reports no heads
};

}  // namespace mote
