// EMA, the running average of a model's weights, and AveragedWeights, a scope in which the model uses the average.
#pragma once

#include <utility>
#include <vector>

#include "nn/state_dict.h"

namespace mote {

/// The settings of an EMA.
struct EMAOptions {
  double decay = 0.999;  ///< the share of the average that an update keeps
  /// Whether the decay is limited to (1 + n) / (10 + n) after n updates. Then an early average covers about the last
  /// tenth of the steps so far, and does not consist mostly of the initial weights.
  bool warmup = false;
};

/// The exponential moving average of every parameter of a module: average += (1 - decay) (weight - average). It covers
/// about the last 1 / (1 - decay) steps, so much of the noise of single batches is gone. The first update copies the
/// weights. Buffers are not averaged.
///
///     EMA ema(model, {.decay = 0.99});
///     ... optimizer.step();
///     ema.update();  // after every step; with fit() in its on_step
///     ...
///     {
///       const AveragedWeights averaged(ema);  // now the model has the averages
///       std::cout << mean_loss(model, held_out, loss);
///     }  // now the model has its weights again
///
/// An EMA holds Parameters, which share their values with the module's, so the module may be moved or destroyed.
/// Checkpoint::add("ema", ema) saves it, and load_weights(model, path, "ema") loads the averages into a model. torch's
/// AveragedModel with get_ema_multi_avg_fn(decay) computes the same averages. With warmup they are those of
/// TensorFlow's ExponentialMovingAverage with num_updates. Source: Polyak and Juditsky 1992. Errors: a decay outside
/// [0, 1), a module without parameters. Errors of update(): a call inside AveragedWeights, no memory. After such an
/// error nothing has changed.
class EMA {
 public:
  explicit EMA(const Module& module, const EMAOptions& options = {});
  EMA(const EMA&) = delete;
  EMA& operator=(const EMA&) = delete;

  void update();
  /// The number of calls of update() so far.
  Index updates() const { return updates_; }
  /// The averages by the parameters' names. Before the first update they are the weights that the module had at
  /// construction. Errors, here and in visit(): a call inside AveragedWeights, because a checkpoint would then save
  /// the averages as the weights.
  const std::vector<NamedParameter>& averages() const& {
    check_not_in_use();
    return averages_;
  }
  std::vector<NamedParameter> averages() && { return std::as_const(*this).averages(); }
  /// Replaces the averages and the count of updates. `averages` are matched with the parameters by name. Errors: an
  /// average that is missing or has another shape; nothing has changed then.
  void set(const std::vector<NamedArray>& averages, Integer updates);
  /// The state for checkpoints: the averages and the count of updates. The options are visited as const, because they
  /// must be the same when a run is resumed.
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

/// A scope in which the parameters of an EMA's module have their averages as values. The end of the scope restores the
/// weights bit for bit, also after an exception. Changes of the parameters inside the scope are lost, so it is for
/// evaluation and not for training. Errors: a second scope of the same EMA inside the first.
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
