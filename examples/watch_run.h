// What a run is watched by: evaluations on held-out data, questions and mistakes, what heads look at.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "engine/base/number_text.h"
#include "engine/io/text/utf8_stream.h"
#include "examples/toy_run.h"
#include "nn/attention_weights.h"
#include "train/evaluate.h"
#include "train/report.h"
#include "train/run_log.h"

namespace toy_run {

/// How a model answered questions.
struct Answers {
  Index total = 0, exact = 0;
  std::vector<EvaluationReport::Sample> first;
  struct Mistake {
    std::string question, answer, instead_of;
  };
  std::vector<Mistake> mistakes;
  double share() const { return total > 0 ? static_cast<double>(exact) / static_cast<double>(total) : 0; }
  /// "12 of 100, 12.0 %"
  std::string text() const {
    return std::to_string(exact) + " of " + std::to_string(total) + ", " + fixed_text(100 * share(), 1) + " %";
  }
};

/// Lets a model answer, and keeps the first `show` answers and the first `mistakes` that are wrong.
inline Answers ask(Model& model, const Task& task, const Questions& q, Index show, Index mistakes = 0) {
  const Aside aside(model.module());
  Answers answers;
  answers.total = q.prompts.shape()[0];
  for (Index done = 0; done < answers.total;) {
    const Index n = std::min<Index>(250, answers.total - done);
    const Questions part{q.prompts.slice(0, done, done + n), q.answers.slice(0, done, done + n)};
    const IntArray given = model.answer(part.prompts, part.answers.shape()[1]);
    for (Index b = 0; b < n; ++b) {
      const bool right = part.right(b, given);
      answers.exact += right;
      const bool shown = done + b < show, kept = !right && static_cast<Index>(answers.mistakes.size()) < mistakes;
      if (!shown && !kept) continue;
      const std::string question = task.question_text(row_of(part.prompts, b)), answer = task.text(row_of(given, b));
      if (shown) answers.first.push_back({question, answer, right});
      if (kept) answers.mistakes.push_back({question, answer, task.text(row_of(part.answers, b))});
    }
    done += n;
  }
  return answers;
}

/// How a model goes on with the beginnings that a task without right answers gives: the same draws each time.
inline std::vector<EvaluationReport::Sample> continuations(Model& model, const Task& task, Index count, Index seed) {
  std::vector<EvaluationReport::Sample> samples;
  if (count == 0) return samples;
  const Aside aside(model.module());
  const Generator random(seed + 4);
  const Questions q = task.evaluation(count);
  for (Index n = 0; n < q.prompts.shape()[0]; ++n) {
    const IntArray prompt = q.prompts.slice(0, n, n + 1);
    const Index length = prompt.shape()[1], more = q.answers.shape()[1];
    const IntArray given = model.gpt() ? model.gpt()->generate(prompt, more, {}, random).slice(1, length, length + more)
                                       : model.answer(prompt, more);
    samples.push_back({task.question_text(row_of(prompt, 0)), task.text(row_of(given, 0))});
  }
  return samples;
}

/// A held-out example to look at heads with, [1, T].
inline Batch example(const Task& task, Index seed) { return task.batch(1, Split::test, Generator(seed + 2)); }

/// The attention weights of each layer on one example, [H, T, T] per layer.
inline std::vector<Array> attention(Model& model, const Batch& batch) {
  const Aside aside(model.module());
  const AttentionWeights seen;
  model.loss(batch);
  std::vector<Array> layers;
  for (const AttentionMap& map : seen.maps()) layers.push_back(map.weights.select(0, 0));
  return layers;
}

/// Evaluations of one run: always the same data, drawn from streams of their own, so that they change nothing.
class Evaluator {
 public:
  Evaluator(Model& model, const Task& task, const RunSettings& settings, bool with_heads)
      : model_(model), task_(task), settings_(settings), example_(example(task, settings.general.seed)) {
    const Generator own(settings.general.seed + 3);
    for (Index i = 0; i < settings.recipe.eval_iters; ++i)
      batches_.push_back(task.batch(settings.recipe.batch_size, Split::test, own));
    if (task.graded()) {
      held_out_ = task.evaluation(questions);
      if (task.holds_out()) trained_on_ = task.evaluation(questions, Split::train);
    }
    if (with_heads) choose_positions();
  }

  /// For the end of a training: the mean loss over all that is held out, or over more batches than an evaluation has,
  /// nanoGPT's 200, fewer large ones; and of what it is the mean.
  std::pair<double, std::string> precise_loss() const {
    std::vector<Batch> more = task_.held_out(settings_.recipe.batch_size);
    if (!more.empty()) {
      const auto loss = [&](const Batch& batch) -> MeanLoss { return {model_.loss(batch), batch.count()}; };
      return {mean_loss(model_.module(), more, loss), "all that is held out"};
    }
    const Generator own(settings_.general.seed + 3);
    const auto least = static_cast<Index>(batches_.size());
    const Index count = std::max(least, std::min<Index>(200, 500'000 / batches_[0].ids.numel()));
    for (Index i = 0; i < count; ++i) more.push_back(task_.batch(settings_.recipe.batch_size, Split::test, own));
    const double loss = mean_loss(model_.module(), more, [&](const Batch& batch) { return model_.loss(batch); });
    return {loss, std::to_string(count) + " batches"};
  }
  EvaluationReport operator()(Index step) const {
    EvaluationReport report;
    report.step = step;
    report.loss = mean_loss(model_.module(), batches_, [&](const Batch& batch) { return model_.loss(batch); });
    const Index samples = settings_.showing.samples;
    if (task_.graded()) {
      const Answers held_out = ask(model_, task_, held_out_, samples);
      report.exact_match = held_out.share();
      report.samples = held_out.first;
      if (task_.holds_out()) report.train_exact_match = ask(model_, task_, trained_on_, 0).share();
    } else {
      report.samples = continuations(model_, task_, samples, settings_.general.seed);
    }
    if (positions_ > 0)
      for (const Array& layer : attention(model_, example_)) {
        report.heads.emplace_back();
        for (Index h = 0; h < layer.shape()[0]; ++h)
          report.heads.back().push_back(attention_levels(layer.select(0, h)));
      }
    return report;
  }
  /// The tokens that its heads look at.
  std::vector<std::string> tokens() const {
    std::vector<std::string> words;
    for (const Index id : row_of(example_.ids, 0)) words.push_back(task_.word(id));
    return words;
  }

 private:
  static constexpr Index questions = 100;

  /// Cuts the example where what all heads look at would be too much to keep.
  void choose_positions() {
    double heads = 0;
    for (const Array& layer : attention(model_, example_)) heads += static_cast<double>(layer.shape()[0]);
    if (heads == 0) return;
    const auto fit = static_cast<Index>(std::sqrt(200'000 / heads));
    positions_ = std::min<Index>({example_.ids.shape()[1], 64, fit});
    example_ = {example_.ids.slice(1, 0, positions_), example_.targets.slice(1, 0, positions_)};
  }

  Model& model_;
  const Task& task_;
  const RunSettings& settings_;
  Batch example_;
  std::vector<Batch> batches_;
  Questions held_out_, trained_on_;
  Index positions_ = 0;
};

/// A line about an evaluation, and one for each sample.
inline std::string describe(const EvaluationReport& r, const Task& task) {
  const auto percent = [](double share) { return fixed_text(100 * share, 0) + " %"; };
  std::string text = "evaluation after " + std::to_string(r.step) + " steps: held-out loss " + fixed_text(r.loss, 4) +
                     task.loss_note(r.loss);
  if (r.exact_match) text += ", exact match " + percent(*r.exact_match);
  if (r.train_exact_match) text += " (of training questions " + percent(*r.train_exact_match) + ")";
  for (const EvaluationReport::Sample& s : r.samples) {
    text += "\n  ";
    const std::string verdict = !s.right ? "" : *s.right ? "   right" : "   wrong";
    for (const char c : readable_text(s.question + (s.right ? "   " : "") + s.answer + verdict))
      text.append(1, c).append(c == '\n' ? "  " : "");
  }
  return text;
}

}  // namespace toy_run
