// How averages are updated, and how they take the place of the weights and give it back.
#include "train/ema.h"

#include <algorithm>

namespace mote {

EMA::EMA(const Module& module, const EMAOptions& options) : decay_(options.decay), warmup_(options.warmup) {
  check_in("EMA", decay_ >= 0 && decay_ < 1, "decay ", decay_, " must be in [0, 1)");
  for (const NamedParameter& p : named_parameters(module)) {
    check_in("EMA", p.parameter.defined(), "parameter '", p.name, "' is not defined");
    entries_.push_back({p.name, p.parameter, p.parameter.value()});
  }
  check_in("EMA", !entries_.empty(), "there are no parameters to average");
}

void EMA::update() {
  check_not_in_use();
  if (updates_ == 0) {
    for (Entry& e : entries_) e.average = e.parameter.value();
  } else {
    jobs_.clear();
    jobs_.reserve(entries_.size());
    for (Entry& e : entries_) {
      Array& average = e.average;
      if (!e.parameter.value().is_contiguous()) e.parameter.set(e.parameter.value().contiguous());
      jobs_.add({e.parameter.value().data(), average.mutate(), average.numel()});
    }
    const auto run = kernels::table().lerp;
    const double n = static_cast<double>(updates_), kept = warmup_ ? std::min(decay_, (1 + n) / (10 + n)) : decay_;
    const real share = static_cast<real>(1 - kept);
    jobs_.run(0.2, [&](const Job& j, Index at, Index n, Index) { run(j.weight + at, share, j.average + at, n); });
  }
  ++updates_;
}

void EMA::check_not_in_use() const {
  check_in("EMA", !in_use_, "the model has its averaged weights: end AveragedWeights first");
}

std::vector<NamedArray> EMA::averages() const {
  check_not_in_use();
  std::vector<NamedArray> list;
  for (const Entry& e : entries_) list.push_back({e.name, e.average});
  return list;
}

std::vector<StatePlace> EMA::places() {
  check_not_in_use();
  std::vector<StatePlace> list;
  for (Entry& e : entries_) list.push_back({{e.name}, e.average.shape(), [&e](Array x) { e.average = std::move(x); }});
  return list;
}

AveragedWeights::AveragedWeights(EMA& ema) : ema_(ema) {
  check_in("AveragedWeights", !ema.in_use_, "the model has its averaged weights already");
  for (const EMA::Entry& e : ema.entries_) weights_.push_back(e.parameter.value());
  ema.in_use_ = true;
  for (const EMA::Entry& e : ema.entries_) e.parameter.set(e.average);
}

AveragedWeights::~AveragedWeights() {
  for (std::size_t i = 0; i < weights_.size(); ++i) ema_.entries_[i].parameter.set(std::move(weights_[i]));
  ema_.in_use_ = false;
}

}  // namespace mote
