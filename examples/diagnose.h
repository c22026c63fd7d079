// diagnose(): what to measure when a language model does not learn, and what each number would mean. See
// when_it_does_not_learn.md.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "engine/base/number_text.h"
#include "engine/engine.h"
#include "engine/watch/observer.h"
#include "nn/check_fields.h"
#include "nn/nn.h"
#include "train/adamw.h"
#include "train/evaluate.h"

/// A model that reads ids [B, T] and says what follows each of them, and how it is trained.
struct Patient {
  mote::Module& model;
  std::function<mote::Tensor(const mote::IntArray& ids)> logits;  ///< [B, T, V]
  /// One step of its training on a batch; not given: AdamW's, with `learning_rate`.
  std::function<void(const mote::IntArray& ids, const mote::IntArray& targets)> step = {};
  double learning_rate = 1e-3;
};

namespace diagnosis {
using namespace mote;

inline std::string percent(double share) { return fixed_text(100 * share, 0) + " %"; }
inline double size_of(const Array& x) { return std::sqrt(static_cast<double>(sum(x * x).item())); }

/// Notes, of every activation that a forward pass computes, how many of its units no token of the batch switches on.
struct DeadUnits : Observer {
  std::map<std::string, double> share;  ///< by layer
  std::string layer;
  DeadUnits() { watch(); }
  void layer_opened(const LayerScope& scope) override { layer = scope.path(scope); }
  void op_recorded(const OpReport& op) override {
    static const std::map<std::string, double> off{{"relu", 0}, {"gelu", -3}, {"gelu_linear", -3}, {"silu", -5}};
    const auto at = off.find(op.op);
    if (at == off.end()) return;
    const Array& x = *op.inputs[0];
    const Index units = x.shape()[x.rank() - 1];
    const std::vector<real> most = max(x.reshape({x.numel() / units, units}), {0}).to_vector();
    const auto dead = std::count_if(most.begin(), most.end(), [&](real m) { return m <= at->second; });
    share[layer] = static_cast<double>(dead) / static_cast<double>(units);
  }
};

/// The sentences, each behind "ok" or "LOOK".
struct Report {
  std::string text;
  void say(bool good, const std::string& fine, const std::string& advice) {
    text += good ? "ok    " + fine + "\n" : "LOOK  " + fine + ": " + advice + "\n";
  }
};

/// `ids` with another symbol at this position of each row.
inline IntArray changed(const IntArray& ids, Index position, Index vocab) {
  const IntArray whole = ids.contiguous();  // they may be a part of other ids
  std::vector<Index> all(whole.values().begin(), whole.values().end());
  const Index length = ids.shape()[1];
  for (std::size_t i = static_cast<std::size_t>(position); i < all.size(); i += static_cast<std::size_t>(length))
    all[i] = (all[i] + 1) % vocab;
  return IntArray(ids.shape(), all);
}

/// Whether a change at one position changes what the model says at another.
inline bool reaches(const Patient& patient, const IntArray& ids, Index from, Index to, Index vocab) {
  const Tensor before = patient.logits(ids), after = patient.logits(changed(ids, from, vocab));
  return size_of(select(before - after, 1, to).array()) > 0;
}

inline void look_at_targets(Report& report, const IntArray& ids, const IntArray& targets) {
  const Index rows = ids.shape()[0], length = ids.shape()[1];
  double count = 0, same = 0, next = 0, previous = 0, pairs = 0;
  for (Index b = 0; b < rows; ++b)
    for (Index t = 0; t < length; ++t) {
      const Index target = targets.at({b, t});
      if (target < 0) continue;
      ++count, same += target == ids.at({b, t});
      if (t > 0 && t + 1 < length)
        ++pairs, next += target == ids.at({b, t + 1}), previous += target == ids.at({b, t - 1});
    }
  const std::string fine = "of the targets " + percent(same / count) + " are the symbol itself, " +
                           percent(pairs > 0 ? next / pairs : 0) + " the next one, " +
                           percent(pairs > 0 ? previous / pairs : 0) + " the one before";
  const bool shifted = next >= 0.9 * pairs, copies = same > 0.9 * count, backwards = previous > 0.9 * pairs;
  report.say(shifted || !(copies || backwards), fine,
             copies ? "not shifted: target t has to be symbol t + 1, or copying is all that there is to learn"
                    : "shifted the wrong way: target t has to be symbol t + 1");
}

inline void look_at_logits(Report& report, const Patient& patient, const IntArray& ids, double loss) {
  const InferenceMode inference(patient.model);
  const Tensor logits = patient.logits(ids);
  const Index vocab = logits.size(-1);
  const double guess = std::log(static_cast<double>(vocab));
  report.say(loss < 1.5 * guess,
             "the loss is " + fixed_text(loss, 3) + ", that of guessing ln " + std::to_string(vocab) + " = " +
                 fixed_text(guess, 3),
             "it is sure of what it does not know yet; draw smaller first weights, or is it the sum and not the mean?");
  const double total = size_of((sum(logits, {-1}) - 1).array());
  report.say(total > 1e-3 || static_cast<double>(min(logits, Axes{}).item()) < 0, "the logits are any numbers",
             "they are all positive and sum to 1: probabilities. cross_entropy takes logits, without a softmax");
  report.say(size_of((logits - patient.logits(ids)).array()) == 0, "in evaluation it says the same twice",
             "something still draws: is the dropout's layer listed in visit(), and eval() called on the whole model?");
  const Index last = ids.shape()[1] - 1;
  if (last < 1) return;
  report.say(!reaches(patient, ids, last, last - 1, vocab), "no position sees the one after it",
             "it sees the answer: the causal mask is missing, inverted or shifted");
  report.say(reaches(patient, ids, 0, last, vocab), "the last position sees the first",
             "what stands before it has no effect: is the mask inverted, or is there no attention at all?");
}

inline void look_at_dead_units(Report& report, const Patient& patient, const IntArray& ids) {
  DeadUnits dead;
  patient.logits(ids);
  for (const auto& [layer, share] : dead.share)
    report.say(share < 0.5, percent(share) + " of the units of " + layer + " are off for every token",
               "they get no gradient; a smaller learning rate, smaller first weights, or gelu in the place of relu");
}

/// Weights, gradients and random streams of a model, which are as they were when this is gone.
struct AsItWas {
  explicit AsItWas(Module& module) : model(module), all(named_parameters(module)) {
    std::erase_if(all, [](const NamedParameter& p) { return !p.parameter.trainable(); });
    for (const NamedParameter& p : all) values.push_back(p.parameter.value());
    for (const NamedStream& s : named_streams(module)) streams.emplace_back(s.stream, s.stream.get_state());
    zero_grad(module);
  }
  AsItWas(const AsItWas&) = delete;
  ~AsItWas() { put_back(); }
  void put_back() {
    for (std::size_t i = 0; i < all.size(); ++i) all[i].parameter.set(values[i]);
    for (const auto& [stream, state] : streams) stream.set_state(state);
    zero_grad(model);
  }
  Module& model;
  std::vector<NamedParameter> all;  ///< that are trained
  std::vector<Array> values;
  std::vector<std::pair<Generator, GeneratorState>> streams;
};

/// What one step of the training does.
inline void look_at_a_step(Report& report, const AsItWas& before, const std::function<void()>& step) {
  step();
  std::string without;
  double least = INFINITY, most = 0;
  bool kept = false, left = false;
  std::vector<Parameter> moved;
  for (std::size_t i = 0; i < before.all.size(); ++i) {
    const Parameter& p = before.all[i].parameter;
    const double ratio = size_of(p.value() - before.values[i]) / std::max(size_of(before.values[i]), 1e-12);
    if (ratio > 0) moved.push_back(p);
    if (ratio == 0) without += (without.empty() ? "" : ", ") + before.all[i].name;
    if (p.shape().rank() > 1) least = std::min(least, ratio), most = std::max(most, ratio);
    kept = kept || (p.grad().defined() && size_of(p.grad()) > 0);
  }
  report.say(without.empty(), "a step changes every parameter",
             "not " + without + ": not in the loss, or not in the optimizer");
  report.say(most < 1 && least > 1e-6,
             "it changes matrices by " + general_text(least, 2) + " to " + general_text(most, 2) + " of their size",
             "about 0.001 is healthy: another learning rate?");
  if (kept) {  // a gradient that no batch leads to: is it still there after a step?
    for (const Parameter& p : moved) p.set_grad(Array::full(p.shape(), 1e6));
    step();
    for (const Parameter& p : moved) left = left || (p.grad().defined() && size_of(p.grad()) > 1e5);
  }
  report.say(!left, "each step begins without the last one's gradient", "zero_grad() is missing: gradients add up");
  report.say(before.model.training(), "it trains in training mode", "eval() was called and train() not again");
}
}  // namespace diagnosis

/// A line for each thing that is measured, "ok" or "LOOK" before it. Trains on the batch for up to 500 steps; then the
/// model is as it was, but for the state of an optimizer that `step` has. Targets below 0 do not count.
inline std::string diagnose(const Patient& patient, const mote::IntArray& ids, const mote::IntArray& targets) {
  using namespace diagnosis;
  Report report;
  const auto loss = [&] { return cross_entropy(patient.logits(ids), targets, {.ignore_index = -1}); };
  const auto evaluated = [&] {
    const InferenceMode inference(patient.model);
    return static_cast<double>(loss().item());
  };
  AsItWas before(patient.model);
  const double first = evaluated();
  look_at_targets(report, ids, targets);
  look_at_logits(report, patient, ids, first);
  look_at_dead_units(report, patient, ids);
  std::string forgotten;
  try {
    check_fields([&] { patient.logits(ids); });
  } catch (const Error& e) {
    forgotten = e.what();
  }
  report.say(forgotten.empty(), "visit() lists what the layers use", forgotten);

  AdamW optimizer(all_parameters(patient.model), {.lr = patient.learning_rate, .weight_decay = 0});
  const OptimizerState fresh = optimizer.state();
  const auto step = [&] {
    if (patient.step) return patient.step(ids, targets);
    optimizer.zero_grad();
    loss().backward();
    optimizer.step();
  };
  look_at_a_step(report, before, step);
  before.put_back();
  optimizer.set_state(fresh);
  double now = first;
  int steps = 0;
  for (; steps < 500 && !(now < 0.2 * first); ++steps, now = steps % 100 == 0 ? evaluated() : now) step();
  report.say(
      now < 0.2 * first,
      std::to_string(steps) + " steps on this batch alone: loss " + fixed_text(first, 3) + " -> " + fixed_text(now, 3),
      "what cannot learn one batch by heart has a mistake, or needs another learning rate");
  return report.text;
}
