// Asking questions, measuring losses, and recording what heads attend to.
#include "train/run/evaluation.h"

#include <algorithm>
#include <cmath>

#include "nn/attention_weights.h"
#include "train/loop/evaluate.h"
#include "train/loop/stop_signal.h"

namespace mote {
namespace {

constexpr Index questions_on_the_way = 100;
constexpr Index longest_example = 256;  // in tokens; each head has the square of this many weights

}  // namespace

Answers ask(const Subject& subject, const Data& data, const Questions& q, Index show, Index mistakes,
            const std::function<void()>& before_each) {
  const InferenceMode inference(*subject.module);
  Answers answers;
  answers.total = q.count();
  for (Index done = 0; done < answers.total;) {
    before_each();
    const Index n = std::min<Index>(250, answers.total - done);
    const Questions part = q.part(done, done + n);
    const IntArray given = subject.answer(part);
    for (Index b = 0; b < n; ++b) {
      const bool right = part.right(b, given);
      answers.exact += right;
      const bool shown = done + b < show, kept = !right && static_cast<Index>(answers.mistakes.size()) < mistakes;
      if (!shown && !kept) continue;
      const std::string question = data.question_text(q, done + b), answer = data.text(row_of(given, b));
      if (shown) answers.first.push_back({question, answer, right});
      if (kept) answers.mistakes.push_back({question, answer, data.text(row_of(part.answers, b))});
    }
    done += n;
  }
  return answers;
}

Evaluator::Evaluator(const Data& data, Subject subject, const Recipe& recipe, const RunOptions& options,
                     bool with_heads)
    : data_(data), subject_(std::move(subject)), recipe_(recipe), options_(options) {
  const Generator own = run_stream(options.seed, Draws::held_out);
  for (Index i = 0; i < recipe.eval_iters; ++i)
    batches_.push_back(data.batch(recipe.batch_size, Split::validation, own));
  if (answers()) {
    held_out_ = data.evaluation(questions_on_the_way);
    if (data.holds_out()) trained_on_ = data.evaluation(questions_on_the_way, Split::train);
  }
  example_ = data.batch(1, Split::validation, run_stream(options.seed, Draws::example));
  if (example_.ids.defined() && example_.targets.defined() && example_.targets.rank() == 2) {
    const Index T = example_.ids.shape()[1];
    if (T > longest_example)
      for (IntArray* const row : {&example_.ids, &example_.targets}) *row = row->slice(1, T - longest_example, T);
    if (example_.count() == 0) example_.targets = example_.ids;  // so that the loss that heads() computes is not NaN
  }
  double count = 0;
  if (with_heads)
    for (const Array& layer : heads()) count += static_cast<double>(layer.shape()[0]);
  if (count > 0) positions_ = std::min<Index>(64, static_cast<Index>(std::sqrt(200'000 / count)));
}

double Evaluator::loss_of(const std::vector<Batch>& batches, const std::function<void()>& before_each) const {
  return mean_loss(*subject_.module, batches, [&](const Batch& batch) {
    before_each();
    return subject_.loss(batch);
  });
}

/// Returns the model's continuations of some beginnings of texts, for data without right answers. The random numbers
/// are the same at each evaluation.
std::vector<EvaluationReport::Sample> Evaluator::continuations() const {
  std::vector<EvaluationReport::Sample> samples;
  if (options_.samples == 0 || !(subject_.sample || subject_.answer)) return samples;
  const InferenceMode inference(*subject_.module);
  const Generator random = run_stream(options_.seed, Draws::samples);
  const Questions q = data_.evaluation(options_.samples);
  if (!q.answers.defined()) return samples;
  for (Index n = 0; n < q.count(); ++n) {
    const Questions one = q.part(n, n + 1);
    const IntArray given =
        subject_.sample ? subject_.sample(one.prompts, one.answers.shape()[1], random) : subject_.answer(one);
    samples.push_back({data_.question_text(q, n), data_.text(row_of(given, 0))});
  }
  return samples;
}

/// The attention weights of each layer on the example, [H, queries, keys] per layer.
std::vector<Array> Evaluator::heads() const {
  const InferenceMode inference(*subject_.module);
  const AttentionWeights seen;
  subject_.loss(example_);
  std::vector<Array> layers;
  for (const AttentionMap& map : seen.maps()) layers.push_back(map.weights.select(0, 0));
  return layers;
}

EvaluationReport Evaluator::operator()(Index step) const {
  EvaluationReport report;
  report.step = step;
  report.loss = loss_of(batches_);
  report.note = data_.loss_note(report.loss);
  if (answers()) {
    Answers held_out = ask(subject_, data_, held_out_, options_.samples);
    report.exact_match = held_out.fraction();
    report.samples = std::move(held_out.first);
    if (data_.holds_out()) report.train_exact_match = ask(subject_, data_, trained_on_, 0).fraction();
  } else {
    report.samples = continuations();
  }
  if (positions_ == 0) return report;
  for (const Array& layer : heads()) {
    report.heads.emplace_back();
    const Index H = layer.shape()[0], queries = layer.shape()[1], keys = layer.shape()[2];
    const Array last = layer.slice(1, std::max<Index>(0, queries - positions_), queries)
                           .slice(2, std::max<Index>(0, keys - positions_), keys);
    for (Index h = 0; h < H; ++h) report.heads.back().push_back(attention_levels(last.select(0, h)));
  }
  return report;
}

std::optional<RunEnding> Evaluator::ending_unless_stopped(Index step) const {
  struct Stopped {};
  try {
    return ending(step, [] {
      if (StopSignal::received() != 0) throw Stopped();
    });
  } catch (const Stopped&) {
    return {};
  }
}

RunEnding Evaluator::ending(Index step, const std::function<void()>& before_each) const {
  RunEnding end{.steps = step};
  if (answers()) {
    const Questions all = data_.evaluation(options_.sequences.value_or(data_.questions_at_end()));
    end.answers = ask(subject_, data_, all, 3, 5, before_each);
  } else {
    std::vector<Batch> more = data_.held_out(recipe_.batch_size);
    end.loss_of = "all that is held out";
    if (more.empty()) {  // 200 batches as in nanoGPT, or fewer if they are large
      const Generator own = run_stream(options_.seed, Draws::held_out);
      const Index size = std::max<Index>(1, batches_[0].ids.defined() ? batches_[0].ids.numel() : batches_[0].count());
      const Index count = std::max(static_cast<Index>(batches_.size()), std::min<Index>(200, 500'000 / size));
      for (Index i = 0; i < count; ++i) more.push_back(data_.batch(recipe_.batch_size, Split::validation, own));
      end.loss_of = std::to_string(count) + " batches";
    }
    end.loss = loss_of(more, before_each);
    end.loss_note = data_.loss_note(end.loss);
  }
  end.heads = heads();
  if (has_tokens()) end.ids = row_of(example_.ids, 0);
  return end;
}

std::vector<std::string> Evaluator::tokens() const {
  std::vector<std::string> words;
  if (positions_ == 0 || !has_tokens()) return words;
  const std::vector<Index> ids = row_of(example_.ids, 0);
  for (auto id = ids.end() - std::min<Index>(positions_, std::ssize(ids)); id != ids.end(); ++id)
    words.push_back(data_.word(*id));
  return words;
}

}  // namespace mote
