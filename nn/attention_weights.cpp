// AttentionWeights, an observer of the values that the attention op shows.
#include "nn/attention_weights.h"

#include <string_view>

namespace mote {

bool AttentionWeights::wants(const char* value) const {
  return std::string_view(value) == "weights" || std::string_view(value) == "dropped_weights";
}

void AttentionWeights::value_shown(const Op&, const char* value, const Array& x) {
  if (std::string_view(value) == "weights")
    maps_.push_back({current_layer(), x, x});
  else if (!maps_.empty())  // shown right after its weights
    maps_.back().dropped = x;
}

const AttentionMap& AttentionWeights::at(const std::string& path) const {
  for (auto map = maps_.rbegin(); map != maps_.rend(); ++map)
    if (map->layer == path) return *map;
  std::string known;
  for (const AttentionMap& map : maps_) known += (known.empty() ? "" : ", ") + map.layer;
  check_in("AttentionWeights", false, "no attention ran in '", path, "'; it ran in: ", known.empty() ? "none" : known);
  return maps_.front();
}

}  // namespace mote
