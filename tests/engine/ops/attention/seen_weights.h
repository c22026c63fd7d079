// The weights of every attention that runs while a SeenWeights lives.
#pragma once

#include <vector>

#include "engine/autograd/observer.h"

namespace mote::test {

class SeenWeights : private Observer {
 public:
  struct Map {
    Array weights, dropped;  // before and after dropout
  };
  SeenWeights() { watch(); }
  const std::vector<Map>& maps() const { return maps_; }

 private:
  void event(const Event& e) override {
    if (e.kind == Event::value_asked) e.answer(Want::to_see);
    if (e.kind != Event::value_shown) return;
    if (e.name == "weights") maps_.push_back({e.value->array(), e.value->array()});
    if (e.name == "dropped_weights") maps_.back().dropped = e.value->array();
  }
  std::vector<Map> maps_;
};

}  // namespace mote::test
