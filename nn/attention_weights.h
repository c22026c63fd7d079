// AttentionWeights: a scope that collects what every head of every layer attends to, in one pass of any model.
#pragma once

#include <string>
#include <vector>

#include "engine/autograd/observer.h"
#include "nn/evaluation.h"

namespace mote {

/// What the heads of one attention attended to, each [B, H, Tq, Tk]: a row is a query, and its weights sum to 1 (or
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
  void event(const Event& e) override {
    const bool dropped = e.name == "dropped_weights";
    if (e.name != "weights" && !dropped) return;
    if (e.kind == Event::value_asked) e.answer(Want::to_see);
    if (e.kind != Event::value_shown) return;
    if (!dropped)
      maps_.push_back({current_layer(), e.value->array(), e.value->array()});
    else if (!maps_.empty())  // shown right after its weights
      maps_.back().dropped = e.value->array();
  }
  std::vector<AttentionMap> maps_;
};

/// What all heads attend to when `model` is called with these inputs, in evaluation mode and without gradients.
template <class Model, class... Inputs>
std::vector<AttentionMap> attention_maps(Model& model, const Inputs&... inputs) {
  const NoGrad no_grad;
  const Evaluation evaluation(model);
  const AttentionWeights seen;
  model(inputs...);
  return seen.maps();
}

}  // namespace mote
