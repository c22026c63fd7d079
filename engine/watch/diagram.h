// Boxes and arrows, such as a recorded graph, as an SVG picture or as text for Graphviz.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mote {

struct DiagramBox {
  std::vector<std::string> lines;  ///< the first is its name
  std::string colour;
};

struct Diagram {
  std::vector<DiagramBox> boxes;
  std::vector<std::pair<std::size_t, std::size_t>> arrows;  ///< from a box to one that stands behind it in `boxes`
  std::vector<std::string> notes;                           ///< lines above the picture
};

/// An SVG file: arrows point down, boxes stand near those to which they are joined. Errors: an arrow that does not go
/// to a later box.
std::string diagram_svg(const Diagram& diagram);
/// The same as DOT, the language of Graphviz.
std::string diagram_dot(const Diagram& diagram);

}  // namespace mote
