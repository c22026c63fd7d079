// Notes that observers attach to a recorded op, for when its rule runs in backward.
#pragma once

#include <memory>
#include <string>

#include "engine/watch/costs.h"

namespace mote {

/// Notes on an op. The op's node keeps the notes, so any thread that runs backward finds them, and they are freed with
/// the graph.
struct Notes {
  std::string layer;       ///< the path of the layer that the op was in; "" outside every layer, or if not noted
  std::string layer_type;  ///< that layer's class
  OpCosts costs;
  Index kept_bytes = 0;  ///< bytes that the op's rule keeps until backward
  bool view = false;
};

/// The notes of a node, or null if there are none.
inline Notes* notes_of(const Node& node) { return static_cast<Notes*>(node.noted.get()); }
inline Notes& make_notes(const Node& node) {
  if (!node.noted) node.noted = std::make_shared<Notes>();
  return *notes_of(node);
}

/// Writes the current layer's path into the notes of an op that was recorded just now. Finding this path is slow.
inline void note_layer(const Node& node) { make_notes(node).layer = current_layer(); }
/// " (in <layer>)" for a node whose layer was noted, otherwise "".
inline std::string in_layer(const Node& node) {
  const Notes* const notes = notes_of(node);
  return notes && !notes->layer.empty() ? " (in " + notes->layer + ")" : "";
}

}  // namespace mote
