// AttentionWeights: a scope that collects what every head of every layer attends to, in one pass of any model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/autograd/tensor.h"
#include "engine/watch/observer.h"
#include "nn/evaluation.h"

namespace mote {

/// What the heads of one attention attended to, each [..., H, Tq, Tk]: a row is a query, and its weights sum to 1 (or
/// to 0 where it may attend to nothing). `dropped` is the weights after dropout, equal to `weights` while nothing is
/// dropped. For inspection: no gradient flows through them. With a cache Tk counts the keys that it still has.
struct AttentionMap {
  std::string layer;  ///< the path of the layer that attended, "transformer.h.0.attn"; "" outside every layer
  Array weights, dropped;
};

/// During its lifetime, records the attention of every layer that this thread runs, your own layers included:
///
///     const NoGrad no_grad;
///     const AttentionWeights seen;
///     model(ids);
///     for (const AttentionMap& map : seen.maps()) std::cout << map.layer << " " << map.weights.shape() << "\n";
///
/// In call order. Changes no bit of the output; costs the memory of the weights, B H Tq Tk elements per layer.
class AttentionWeights : private Observer {
 public:
  [[nodiscard]] AttentionWeights() { watch(); }

  const std::vector<AttentionMap>& maps() const& { return maps_; }
  std::vector<AttentionMap> maps() && { return std::move(maps_); }

 private:
  bool wants(const char* value) const override {
    return std::string_view(value) == "weights" || std::string_view(value) == "dropped_weights";
  }
  void value_shown(const char* value, const Tensor& x) override {
    if (std::string_view(value) == "weights")
      maps_.push_back({current_layer(), x.array(), x.array()});
    else if (!maps_.empty())  // shown right after its weights
      maps_.back().dropped = x.array();
  }
  std::vector<AttentionMap> maps_;
};

/// What all heads attend to when `model` is called with these inputs, in evaluation mode and without gradients.
template <class Model, class... Inputs>
std::vector<AttentionMap> attention_maps(Model& model, const Inputs&... inputs) {
  static_assert(!std::is_const_v<Model>, "the model is put into evaluation mode for a while: it must not be const");
  const NoGrad no_grad;
  const Evaluation evaluation(model);
  const AttentionWeights seen;
  model(inputs...);
  return seen.maps();
}

}  // namespace mote
