// AttentionWeights: a scope that collects the attention weights of every head and layer during a pass of any model.
#pragma once

#include <string>
#include <vector>

#include "engine/autograd/observer.h"
#include "nn/evaluation.h"

namespace mote {

/// The weights of one call of attention, of shape [B, H, Tq, Tk]. A row belongs to a query. The weights of a row sum
/// to 1, or to 0 if the query may attend to nothing. `dropped` is the weights after dropout, and equals `weights`
/// while nothing is dropped. The weights are for inspection: no gradient flows through them. With a cache, Tk counts
/// only the keys that the cache still holds.
struct AttentionMap {
  std::string layer;  ///< the path of the layer that attended, such as "transformer.h.0.attn"; "" outside every layer
  Array weights, dropped;
};

/// During its lifetime, records the attention weights of every layer that this thread runs, your own layers included:
///
///     const NoGrad no_grad;
///     const AttentionWeights seen;
///     model(ids);
///     for (const AttentionMap& map : seen.maps()) std::cout << map.layer << " " << map.weights.shape() << "\n";
///
/// The maps are in call order. Recording changes no bit of the output. Recording costs the memory of the weights,
/// B H Tq Tk elements per layer.
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
    else if (!maps_.empty())  // the weights after dropout come right after the weights, the last map
      maps_.back().dropped = e.value->array();
  }
  std::vector<AttentionMap> maps_;
};

/// The attention weights of all heads when `model` is called with these inputs, in evaluation mode and without
/// gradients.
template <class Model, class... Inputs>
std::vector<AttentionMap> attention_maps(Model& model, const Inputs&... inputs) {
  const NoGrad no_grad;
  const Evaluation evaluation(model);
  const AttentionWeights seen;
  model(inputs...);
  return seen.maps();
}

}  // namespace mote
