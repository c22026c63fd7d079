// Updates of the averages, and how AveragedWeights puts them in place of the weights and then restores the weights.
#include "train/loop/ema.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"

namespace mote {

EMA::EMA(const Module& module, const EMAOptions& options)
    : weights_(named_parameters(module)), decay_(options.decay), warmup_(options.warmup) {
  check_in("EMA", decay_ >= 0 && decay_ < 1, "decay ", decay_, " must be in [0, 1)");
  for (const auto& [name, weight] : weights_) {
    check_in("EMA", weight.defined(), "parameter '", name, "' is an empty Parameter()");
    averages_.push_back({name, Parameter(weight.value())});
  }
  check_in("EMA", !weights_.empty(), "the module has no parameters to average");
}

void EMA::update() {
  check_not_in_use();
  for (std::size_t i = 0; i < weights_.size(); ++i) {  // allocates first, so that the updates below cannot fail
    const Parameter &weight = weights_[i].parameter, &average = averages_[i].parameter;
    if (!weight.value().is_contiguous()) weight.set(weight.value().contiguous());
    if (updates_ > 0) average.mutate();
  }
  const double n = static_cast<double>(updates_), kept = warmup_ ? std::min(decay_, (1 + n) / (10 + n)) : decay_;
  const real fraction = static_cast<real>(1 - kept);
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    const Parameter &weight = weights_[i].parameter, &average = averages_[i].parameter;
    if (updates_ == 0) {
      average.set(weight.value());
      continue;
    }
    const real* const from = weight.value().data();
    real* const to = average.mutate();
    parallel_for(average.numel(), grain_for(0.2),
                 [&](Index lo, Index hi) { kernels::table().lerp(from + lo, fraction, to + lo, hi - lo); });
  }
  ++updates_;
}

void EMA::set(const std::vector<NamedArray>& averages, Integer updates) {
  check_not_in_use();
  check_in("EMA", updates >= 0, "updates ", updates, " must be at least 0");
  std::vector<Array> values;
  for (const NamedParameter& p : averages_) {
    const auto found =
        std::find_if(averages.begin(), averages.end(), [&](const NamedArray& a) { return a.name == p.name; });
    const auto* const value = found == averages.end() ? nullptr : std::get_if<Array>(&found->value);
    check_in("EMA", value && value->shape() == p.parameter.shape(), "the averages must have an array '", p.name,
             "' of shape ", p.parameter.shape());
    values.push_back(*value);
  }
  for (std::size_t i = 0; i < values.size(); ++i) averages_[i].parameter.set(values[i]);
  updates_ = updates;
}

void EMA::check_not_in_use() const {
  check_in("EMA", !in_use_, "the model has its averaged weights now: end the scope of AveragedWeights first");
}

AveragedWeights::AveragedWeights(EMA& ema) : ema_(ema) {
  check_in("AveragedWeights", !ema.in_use_,
           "the model has its averaged weights now: end the other scope of AveragedWeights first");
  for (const NamedParameter& p : ema.weights_) weights_.push_back(p.parameter.value());
  ema.in_use_ = true;
  for (std::size_t i = 0; i < weights_.size(); ++i) ema.weights_[i].parameter.set(ema.averages_[i].parameter.value());
}

AveragedWeights::~AveragedWeights() {
  for (std::size_t i = 0; i < weights_.size(); ++i) ema_.weights_[i].parameter.set(std::move(weights_[i]));
  ema_.in_use_ = false;
}

}  // namespace mote
