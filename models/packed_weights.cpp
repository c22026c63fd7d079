// How PackedWeights packs weights, and how it notices that weights have changed.
#include "models/packed_weights.h"

#include <utility>

#include "nn/linear.h"

namespace mote {

PackedWeights::PackedWeights(const Module& model, Index rows)
    : model_(&model),
      few_(rows <= kernels::UsePacked::most_rows),
      parameters_(parameters(model)),
      outer_(std::exchange(open_, this)) {
  refresh();
}

PackedWeights::~PackedWeights() { open_ = outer_; }

bool PackedWeights::refresh() {
  bool changed = values_.size() != parameters_.size();
  values_.resize(parameters_.size());
  for (std::size_t i = 0; i < values_.size(); ++i) {
    changed = changed || !values_[i].shares_storage(parameters_[i].value());
    values_[i] = parameters_[i].value();
  }
  if (!changed) return false;
  compared = 0;
  if (few_) pack();
  return true;
}

void PackedWeights::pack() {
  use_.reset();
  weights_.clear();
  elements_.clear();
  for (const auto& [name, layer] : named_modules(*model_)) {
    const Linear* const linear = dynamic_cast<const Linear*>(layer);
    if (!linear || linear->weight.numel() == 0) continue;
    const Array& w = linear->weight.value();
    if (!w.is_contiguous()) continue;
    const Index n = w.shape()[0], k = w.shape()[1];
    elements_.emplace_back(static_cast<std::size_t>(kernels::packed_numel(n, k)) * sizeof(real));
    weights_.push_back(kernels::pack_weight(n, k, w.data(), static_cast<real*>(elements_.back().data())));
  }
  use_.emplace(weights_);
}

}  // namespace mote
