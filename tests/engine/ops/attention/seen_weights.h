// The weights of every attention that runs while a SeenWeights lives.
#pragma once

#include <string_view>
#include <vector>

#include "engine/watch/observer.h"

namespace mote::test {

class SeenWeights : private Observer {
 public:
  struct Map {
    Array weights, dropped;  // before and after dropout
  };
  SeenWeights() { watch(); }
  const std::vector<Map>& maps() const { return maps_; }

 private:
  bool wants(const char*) const override { return true; }
  void value_shown(const char* value, const Tensor& x) override {
    if (std::string_view(value) == "weights") maps_.push_back({x.array(), x.array()});
    if (std::string_view(value) == "dropped_weights") maps_.back().dropped = x.array();
  }
  std::vector<Map> maps_;
};

}  // namespace mote::test
