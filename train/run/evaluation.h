// Evaluator, which measures a model during a run and at its end: the held-out loss, the fraction of right answers,
// samples, and attention weights.
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

/// Asks a model all questions and counts the right answers. The result also has the first `show` answers and the first
/// `mistakes` wrong answers. `before_each` is called before every group of 250 questions. An exception that
/// `before_each` throws is passed on to the caller.
Answers ask(
    const Subject& subject, const Data& data, const Questions& questions, Index show, Index mistakes = 0,
    const std::function<void()>& before_each = [] {});

/// Evaluates the model of one run, always on the same data. The data are drawn from streams of their own and the model
/// is in evaluation mode, so an evaluation does not change the run. Data, recipe and options must outlive the
/// Evaluator.
class Evaluator {
 public:
  /// If `with_heads` is true, evaluations also report the attention weights of all heads on one held-out example.
  Evaluator(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options, bool with_heads);

  EvaluationReport operator()(Index step) const;
  /// The final evaluation. It asks as many questions as RunOptions::sequences says. For data without right answers it
  /// computes the mean loss over all held-out data instead. If Data::held_out() is empty, it draws more batches than an
  /// evaluation during the run uses. `before_each` is called before every 250 questions and before each batch.
  RunEnding ending(
      Index step, const std::function<void()>& before_each = [] {}) const;
  /// Returns ending(step), the final evaluation, or nullopt if a StopSignal receives a signal meanwhile.
  std::optional<RunEnding> ending_unless_stopped(Index step) const;
  /// The texts of the tokens of the example for which evaluations report attention weights. Empty if no attention
  /// weights are reported, or if the inputs are values.
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
  Batch example_;        // one held-out example, for which attention weights are reported
  Index positions_ = 0;  // how many of the last queries and keys are reported; 0: no attention weights
};

}  // namespace mote
