// diagnose(), which measures why a language model does not learn, and says what each number means. See
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
#include "nn/check_fields.h"
#include "nn/nn.h"
#include "train/loop/evaluate.h"
#include "train/optim/adamw.h"

/// A model that predicts the next token at each position of ids [B, T], and how the model is trained.
struct Patient {
  mote::Module& model;
  std::function<mote::Tensor(const mote::IntArray& ids)> logits;  ///< [B, T, V]
  /// Takes one training step on a batch. If it is not given, AdamW takes the step with `learning_rate`.
  std::function<void(const mote::IntArray& ids, const mote::IntArray& targets)> step = {};
  double learning_rate = 1e-3;
};

namespace diagnosis {
using namespace mote;

inline std::string percent(double share) { return fixed_text(100 * share, 0) + " %"; }
inline double size_of(const Array& x) { return std::sqrt(static_cast<double>(sum(x * x).item())); }

/// The report, with one line for each measurement. A line begins with "ok" or "LOOK".
struct Diagnosis {
  std::string text;
  void say(bool good, const std::string& fine, const std::string& advice) {
    text += good ? "ok    " + fine + "\n" : "LOOK  " + fine + ": " + advice + "\n";
  }
};

/// Checks that the target at each position t is the symbol at t + 1. Returns whether there is a target that is not
/// ignored.
inline bool look_at_targets(Diagnosis& report, const IntArray& ids, const IntArray& targets) {
  const Index rows = ids.shape()[0], length = ids.shape()[1];
  double count = 0, same = 0, next = 0, previous = 0, have_next = 0, have_previous = 0;
  for (Index b = 0; b < rows; ++b)
    for (Index t = 0; t < length; ++t) {
      const Index target = targets.at({b, t});
      if (target < 0) continue;
      ++count;
      same += target == ids.at({b, t});
      if (t + 1 < length) {
        ++have_next;
        next += target == ids.at({b, t + 1});
      }
      if (t > 0) {
        ++have_previous;
        previous += target == ids.at({b, t - 1});
      }
    }
  if (count == 0) return report.say(false, "no target counts", "all are -1"), false;
  const std::string fine = "of the targets " + percent(same / count) + " are the symbol itself, " +
                           percent(next / std::max(have_next, 1.0)) + " the next one, " +
                           percent(previous / std::max(have_previous, 1.0)) + " the one before";
  const bool shifted = have_next > 0 && next >= 0.9 * have_next, copies = same > 0.9 * count;
  const bool backwards = have_previous > 0 && previous > 0.9 * have_previous;
  report.say(shifted || !(copies || backwards), fine,
             copies ? "not shifted: target t has to be symbol t + 1, or copying is all that there is to learn"
                    : "shifted the wrong way: target t has to be symbol t + 1");
  return true;
}

/// Checks that the first loss is not far above that of guessing. Returns the loss of guessing, ln(vocabulary).
inline double look_at_first_loss(Diagnosis& report, const Patient& patient, const IntArray& ids, double loss) {
  const InferenceMode inference(patient.model);
  const Index vocab = patient.logits(ids).size(-1);
  const double guess = std::log(static_cast<double>(vocab));
  report.say(loss <= 1.5 * guess,
             "the loss is " + fixed_text(loss, 3) + ", and that of guessing would be ln " + std::to_string(vocab) +
                 " = " + fixed_text(guess, 3),
             "it is sure of what it does not know yet; draw smaller first weights");
  return guess;
}

/// Keeps the weights and random streams of a model, and restores them at the end of its lifetime. Gradients are
/// cleared.
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
  std::vector<NamedParameter> all;  ///< the parameters that are trained
  std::vector<Array> values;
  std::vector<std::pair<Generator, GeneratorState>> streams;
};

/// Checks that four training steps change every parameter. One step might not change them all, because it may be the
/// first of a warm-up, or because a matrix of zeros stops the gradient.
inline void look_at_parameters(Diagnosis& report, const AsItWas& before, const std::function<void()>& step) {
  for (int n = 0; n < 4; ++n) step();
  const auto slope = [](const NamedParameter& p) {
    return p.parameter.grad().defined() ? size_of(p.parameter.grad()) : INFINITY;
  };
  double steepest = 0;
  for (const NamedParameter& p : before.all)
    if (std::isfinite(slope(p))) steepest = std::max(steepest, slope(p));
  std::string without;
  for (std::size_t i = 0; i < before.all.size(); ++i) {
    const NamedParameter& p = before.all[i];
    const bool moved = size_of(p.parameter.value() - before.values[i]) > 0;
    if (!moved &&
        (p.parameter.shape().rank() > 1 || slope(p) > 1e-6 * steepest))  // the gradient of a key's bias is always 0
      without += (without.empty() ? "" : ", ") + p.name;
  }
  report.say(without.empty(), "four steps change every parameter",
             "not " + without + ": not in the loss, or not in the optimizer");
}

/// Whether a step adds its gradient to the gradient that is already there. Before the step, a gradient that no batch
/// gives is set. If the gradient after the step still has that direction, zero_grad() is missing. Only the direction is
/// compared, because the size may be clipped.
inline bool adds_up(const AsItWas& before, const std::function<void()>& step) {
  for (const NamedParameter& p : before.all) p.parameter.set_grad(Array::full(p.parameter.shape(), 1e6));
  step();
  for (std::size_t i = 0; i < before.all.size(); ++i) {
    const Parameter& p = before.all[i].parameter;
    if (p.shape().rank() < 2 || !p.grad().defined() || size_of(p.value() - before.values[i]) == 0) continue;
    const double along = static_cast<double>(sum(p.grad()).item()) / std::sqrt(static_cast<double>(p.value().numel()));
    if (p.value().numel() > 16 && along > 0.99 * size_of(p.grad())) return true;
  }
  return false;
}

/// The lowest loss that a model can reach if it sees only the symbols up to each position. It is above 0 if rows begin
/// alike and go on differently.
inline double floor_of(const IntArray& ids, const IntArray& targets) {
  std::map<std::vector<Index>, std::map<Index, double>> said;  // how often each target follows each beginning of a row
  double loss = 0, count = 0;
  for (Index b = 0; b < ids.shape()[0]; ++b) {
    std::vector<Index> row;
    for (Index t = 0; t < ids.shape()[1]; ++t) {
      row.push_back(ids.at({b, t}));
      const Index next = targets.at({b, t});
      if (next < 0) continue;
      ++said[row][next];
      ++count;
    }
  }
  for (const auto& [row, next] : said) {
    double all = 0;
    for (const auto& [symbol, times] : next) all += times;
    for (const auto& [symbol, times] : next) loss -= times * std::log(times / all) / count;
  }
  return loss;
}
}  // namespace diagnosis

/// Measures why a model does not learn. Returns one line for each measurement. A line begins with "ok" or "LOOK".
/// Trains on the batch for up to 1000 steps. Afterwards the model's weights and random streams are as they were before,
/// but an optimizer inside `step` keeps its new state. Targets of -1 or -100 do not count.
inline std::string diagnose(const Patient& patient, const mote::IntArray& ids, const mote::IntArray& targets) {
  using namespace diagnosis;
  Diagnosis report;
  const std::vector<Index> all = targets.to_vector();
  const Index ignored = all.empty() ? -1 : std::min<Index>(-1, std::ranges::min(all));  // -1, or PyTorch's -100
  const auto loss = [&] { return cross_entropy(patient.logits(ids), targets, {.ignore_index = ignored}); };
  const auto evaluated = [&] {
    const InferenceMode inference(patient.model);
    return static_cast<double>(loss().item());
  };
  AsItWas before(patient.model);
  try {
    check_fields([&] { patient.logits(ids); });
    report.say(true, "visit() lists what the layers use", "");
  } catch (const Error& e) {
    report.say(false, "visit() lists what the layers use", e.what());
    return report.text;  // ends here: fields missing from visit() are neither trained nor reached by eval()
  }
  if (!look_at_targets(report, ids, targets)) return report.text;
  const double first = evaluated(), least = floor_of(ids, targets);
  if (!std::isfinite(first)) return report.say(false, "the loss is NaN", "try MOTE_CHECK=finite"), report.text;
  const double guess = look_at_first_loss(report, patient, ids, first);

  AdamW optimizer(all_parameters(patient.model), {.lr = patient.learning_rate, .weight_decay = 0});
  const OptimizerState fresh = optimizer.state();
  const auto step = [&] {
    if (patient.step) return patient.step(ids, targets);
    optimizer.zero_grad();
    loss().backward();
    optimizer.step();
  };
  try {
    look_at_parameters(report, before, step);
  } catch (const std::exception& e) {
    return report.say(false, "a step of the training ends with an error", e.what()), report.text;
  }
  before.put_back();
  optimizer.set_state(fresh);
  const double aim = least + 0.2 * (std::min(first, guess) - least);
  double now = first;
  int steps = 0;
  for (; steps < 1000 && !(now < aim) && now < 10 * first; ++steps, now = steps % 100 == 0 ? evaluated() : now) step();
  before.put_back();
  report.say(!adds_up(before, step), "each step begins without the last one's gradient",
             "zero_grad() is missing: gradients add up");
  report.say(
      now < aim,
      std::to_string(steps) + " steps on this batch alone: loss " + fixed_text(first, 3) + " -> " + fixed_text(now, 3),
      "what cannot learn one batch by heart has a mistake, is too small, or needs another learning rate");
  return report.text;
}
