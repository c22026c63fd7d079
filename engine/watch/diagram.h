// Boxes and arrows, such as a recorded graph, as an SVG picture or as text for Graphviz.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace mote {

/// A box of a Diagram, with its lines of text.
struct DiagramBox {
  std::vector<std::string> lines;  ///< lines of text; the first is the name of the box
  std::string colour;
};

/// Boxes and the arrows between them, to be drawn by diagram_svg().
struct Diagram {
  std::vector<DiagramBox> boxes;
  std::vector<std::pair<std::size_t, std::size_t>> arrows;  ///< positions in `boxes`: from a box to a later box
  std::vector<std::string> notes;                           ///< lines above the picture
};

/// A diagram as an SVG file. Arrows point down, and boxes that are joined by arrows stand near each other. Errors: an
/// arrow that does not go to a later box.
std::string diagram_svg(const Diagram& diagram);
/// A diagram as DOT, the language of Graphviz.
std::string diagram_dot(const Diagram& diagram);

}  // namespace mote
