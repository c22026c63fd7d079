// Subject, the model that a run trains: a module, its loss and its answers. subject_of() makes one from any model.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "engine/array/join.h"
#include "engine/ops/loss.h"
#include "engine/ops/reduce.h"
#include "train/keep/checkpoint.h"
#include "train/loop/evaluate.h"
#include "train/run/data.h"

namespace mote {

/// The model that a run trains, with functions for its loss and its answers. It refers to the module, which must
/// outlive it.
struct Subject {
  Module* module = nullptr;
  /// The fields of the module's config. Reports list them, a resumed run compares them, and whoever reads a checkpoint
  /// builds the model from them.
  std::vector<Field> config = {};
  std::function<MeanLoss(const Batch&)> loss = {};
  /// The likeliest answers [N, A] to questions. Without this function only the loss is measured.
  std::function<IntArray(const Questions&)> answer = {};
  /// Draws `count` ids that continue a prompt [1, P], and returns them as [1, count]. Without this function, reports
  /// show the result of `answer` instead.
  std::function<IntArray(const IntArray& prompt, Index count, const Generator& random)> sample = {};
};

namespace detail {
template <class M>
concept LossOfIds = requires(const M& m, const IntArray& ids) {
  m.loss(ids, ids);
};
template <class M>
concept Generates = requires(M& m, const IntArray& ids, const Generator& random) {
  m.generate(ids, 1);
  m.generate(ids, 1, {}, random);
};

/// The output of a model for these inputs: logits of classes, or values.
template <class M>
Tensor result_of(const M& model, const IntArray& ids, const Array& values) {
  if constexpr (Takes<M, const Tensor&>)
    if (values.defined()) return model(Tensor(values));
  if constexpr (detail::Takes<M, const IntArray&>)
    if (ids.defined()) return model(ids);
  throw Error(values.defined()
                  ? "subject_of: the data's inputs are values, but the model has no forward(const Tensor&)"
                  : "subject_of: the data's inputs are ids, but the model has no forward(const IntArray&)");
}

/// Returns the greedy answers [N, A] of a model: the likeliest class, or the likeliest symbols one after the other.
/// The model reads each symbol before the next one is chosen.
template <class M>
IntArray likeliest(const M& model, const Questions& q) {
  std::vector<IntArray> ids{q.prompts}, answer;
  for (Index i = 0; i < q.answers.shape()[1]; ++i) {
    const IntArray read = i == 0 ? q.prompts : joined(ids, 1), all = argmax(result_of(model, read, q.values), -1);
    const Index last = all.rank() == 1 ? 0 : all.shape()[1] - 1;
    answer.push_back(all.rank() == 1 ? all.unsqueeze(1) : all.slice(1, last, last + 1));
    ids.push_back(answer.back());
  }
  return joined(answer, 1);
}
}  // namespace detail

/// Makes the Subject of a model. A language model has loss(ids, targets), as GPT does. It answers by generate() or,
/// without generate(), by its logits model(ids). For any other model, model(inputs) are logits: [B, K] of classes, or
/// [B, T, K] of a class at each position. The loss is then the cross-entropy. If a Dataset's targets are values,
/// model(inputs) are values as well, and the loss is the mean squared error. The answer is the likeliest class at the
/// last position. For an answer of several symbols, this class is appended to the input, the next class is chosen, and
/// so on. If the model has a field `config` with visit(v), the fields of the config are part of the settings.
template <class M>
Subject subject_of(M& model) {
  Subject s{&model};
  if constexpr (requires { requires detail::HasFields<decltype(model.config)>; }) s.config = fields(model.config);
  if constexpr (detail::LossOfIds<M>) {
    s.loss = [&model](const Batch& b) -> MeanLoss { return {model.loss(b.ids, b.targets), b.count()}; };
    if constexpr (detail::Takes<M, const IntArray&>)
      s.answer = [&model](const Questions& q) { return detail::likeliest(model, q); };
  } else {
    s.loss = [&model](const Batch& b) -> MeanLoss {
      const Tensor y = detail::result_of(model, b.ids, b.values);
      return {b.wanted.defined() ? mse_loss(y, b.wanted) : cross_entropy(y, b.targets, {.ignore_index = -1}),
              b.count()};
    };
    s.answer = [&model](const Questions& q) { return detail::likeliest(model, q); };
  }
  if constexpr (detail::Generates<M>) {
    s.answer = [&model](const Questions& q) {
      const Index length = q.prompts.shape()[1], count = q.answers.shape()[1];
      return model.generate(q.prompts, count).slice(1, length, length + count);
    };
    s.sample = [&model](const IntArray& prompt, Index count, const Generator& random) {
      const Index length = prompt.shape()[1];
      return model.generate(prompt, count, {}, random).slice(1, length, length + count);
    };
  }
  return s;
}

/// Makes the Subject of a model as subject_of(model) does, with options for generate(). Answers are still the
/// likeliest ones, because they are generated with temperature 0. An example is subject_of(model,
/// GenerateOptions{.use_cache = false}), for a model that mixes positions without a cache.
template <class M, class Options>
Subject subject_of(M& model, const Options& how) {
  Subject s = subject_of(model);
  s.answer = [&model, how](const Questions& q) {
    Options greedy = how;
    greedy.temperature = 0;
    const Index length = q.prompts.shape()[1], count = q.answers.shape()[1];
    return model.generate(q.prompts, count, greedy, Generator()).slice(1, length, length + count);
  };
  s.sample = [&model, how](const IntArray& prompt, Index count, const Generator& random) {
    const Index length = prompt.shape()[1];
    return model.generate(prompt, count, how, random).slice(1, length, length + count);
  };
  return s;
}

}  // namespace mote
