// Evaluator, which measures a model on the way and at the end of a run: held-out loss, questions, samples, heads.
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

/// Lets a model answer, and keeps the first `show` answers and the first `mistakes` that are wrong. `before_each` is
/// called before each 250 questions; what it throws ends the asking.
Answers ask(
    const Subject& subject, const Data& data, const Questions& questions, Index show, Index mistakes = 0,
    const std::function<void()>& before_each = [] {});

/// Evaluations of one run: always the same data, drawn from streams of their own, in evaluation mode; so they change
/// nothing. Data and options must outlive it.
class Evaluator {
 public:
  /// `with_heads`: an evaluation also says what all heads attend to on one held-out example, for a report.
  Evaluator(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options, bool with_heads);

  EvaluationReport operator()(Index step) const;
  /// At the end: all questions; without right answers the mean loss over all that is held out, or over more batches
  /// than an evaluation has. `before_each` is called before each 250 questions, and before each batch.
  RunEnding ending(
      Index step, const std::function<void()>& before_each = [] {}) const;
  /// The same; nothing once a StopSignal has come.
  std::optional<RunEnding> ending_unless_stopped(Index step) const;
  /// The tokens that the heads of its evaluations look at; none where the inputs are values.
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
  Batch example_;        // of one, which heads look at
  Index positions_ = 0;  // of queries and of keys the last ones, which an evaluation shows; 0: it shows no heads
};

}  // namespace mote
