// What observers note of a recorded op, for the time when its rule runs.
#pragma once

#include <memory>
#include <string>

#include "engine/watch/costs.h"

namespace mote {

/// Kept by the op's node: so it is there in whichever thread backward runs, and goes with the graph.
struct Notes {
  std::string layer;       ///< the path of the layer that the op was in; "" outside every layer, or if nobody has asked
  std::string layer_type;  ///< that layer's class
  OpCosts costs;
  Index kept_bytes = 0;  ///< for the rule
  bool view = false;
};

/// Null if nobody has noted anything.
inline Notes* notes_of(const Node& node) { return static_cast<Notes*>(node.noted.get()); }
inline Notes& make_notes(const Node& node) {
  if (!node.noted) node.noted = std::make_shared<Notes>();
  return *notes_of(node);
}

/// Notes the layer of an op that was recorded just now. To find its path takes long.
inline void note_layer(const Node& node) { make_notes(node).layer = current_layer(); }
/// " (in <layer>)", or "" where it was not noted.
inline std::string in_layer(const Node& node) {
  const Notes* const notes = notes_of(node);
  return notes && !notes->layer.empty() ? " (in " + notes->layer + ")" : "";
}

}  // namespace mote
