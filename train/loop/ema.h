// EMA, the running average of a model's weights, and AveragedWeights, a scope in which the model has these weights.
#pragma once

#include <utility>
#include <vector>

#include "nn/state_dict.h"

namespace mote {

struct EMAOptions {
  double decay = 0.999;  ///< how much of the average an update keeps
  /// Keep at most (1 + n) / (10 + n) in the n-th update: an average of few steps is over the last tenth of them, and
  /// not mostly the weights that training began with.
  bool warmup = false;
};

/// The exponential moving average of every parameter of a module: average += (1 - decay) (weight - average). It is over
/// the last 1 / (1 - decay) steps. Much of the noise of single batches is gone. The first update copies the weights.
/// Buffers have none.
///
///     EMA ema(model, {.decay = 0.99});
///     ... optimizer.step();
///     ema.update();  // after every step; in fit(): in on_step
///     ...
///     {
///       const AveragedWeights averaged(ema);  // now the model has the averages
///       std::cout << mean_loss(model, held_out, loss);
///     }  // and now its weights again
///
/// It holds handles to the parameters' cells, so the module may be moved or destroyed. Checkpoint::add("ema", ema)
/// keeps it, and load_weights(model, path, "ema") builds a model of the averages. torch's AveragedModel
/// with get_ema_multi_avg_fn(decay) does the same; with warmup, TensorFlow's ExponentialMovingAverage with num_updates.
/// Source: Polyak and Juditsky 1992.
/// Errors: a decay outside [0, 1), a module without parameters; of update(): inside AveragedWeights, no memory; nothing
/// has changed then.
class EMA {
 public:
  explicit EMA(const Module& module, const EMAOptions& options = {});
  EMA(const EMA&) = delete;
  EMA& operator=(const EMA&) = delete;

  void update();
  /// Calls of update() so far.
  Index updates() const { return updates_; }
  /// By the parameters' names; before the first update the weights at the construction. Errors, here and in visit():
  /// inside AveragedWeights, where a checkpoint would take the averages for the weights.
  const std::vector<NamedParameter>& averages() const& {
    check_not_in_use();
    return averages_;
  }
  std::vector<NamedParameter> averages() && { return std::as_const(*this).averages(); }
  /// Goes on from others, by the parameters' names. Errors: one that is missing or of another shape; nothing has
  /// changed then.
  void set(const std::vector<NamedArray>& averages, Integer updates);
  /// For checkpoints: the averages, the count, and what must be the same where the averages go on.
  template <class V>
  void visit(V& v) {
    check_not_in_use();
    for (const NamedParameter& p : averages_) v(p.name.c_str(), p.parameter, "");
    v("updates", updates_, "");
    v("decay", std::as_const(decay_), "");
    v("warmup", std::as_const(warmup_), "");
  }

 private:
  friend class AveragedWeights;
  void check_not_in_use() const;

  std::vector<NamedParameter> weights_, averages_;
  double decay_;
  bool warmup_;
  Index updates_ = 0;
  bool in_use_ = false;
};

/// During its lifetime the parameters of an EMA's module have their averages as values; then their own again, to the
/// bit, also when an exception ends it. What changes the parameters meanwhile is lost: it is for looking, not for
/// training. Errors: one inside another of the same EMA.
class AveragedWeights {
 public:
  [[nodiscard]] explicit AveragedWeights(EMA& ema);
  ~AveragedWeights();
  AveragedWeights(const AveragedWeights&) = delete;

 private:
  EMA& ema_;
  std::vector<Array> weights_;
};

}  // namespace mote
