// graph_svg, which draws a recorded graph, and GraphRecorder, which collects values and gradients for the picture.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/watch/diagram.h"
#include "engine/watch/notes.h"

namespace mote {

namespace detail {
struct GraphStep {
  std::string op, layer;
  Shape shape;
  NodePtr leaf = nullptr;  ///< null for an op and for a constant
  Index kept_bytes = 0;
  std::vector<Index> inputs = {};
  std::vector<std::string> value = {}, gradient = {};  ///< as lines of text
};
}  // namespace detail

/// Remembers the ops that its thread records, with values and gradients, for a picture of their graph. The graph
/// alone does not suffice, because it holds no values and backward() frees it.
///
///     GraphRecorder seen;
///     const Tensor loss = sum(x * w);
///     loss.backward();
///     write_file("graph.svg", graph_svg(loss, seen.name(w, "w")));
class GraphRecorder : public Observer {
 public:
  GraphRecorder() { watch(); }
  /// Sets the name of a tensor or a parameter in the picture. Errors: the tensor requires no gradient.
  template <class T>
  GraphRecorder& name(const T& x, const std::string& called) {
    check_in("GraphRecorder", x.node() != nullptr, "'", called, "' requires no gradient: no graph has it");
    names_[x.node()->id] = called;
    return *this;
  }
  void event(const Event& e) override;

 private:
  void record(const Event& e);
  friend Diagram graph_diagram(const Tensor& result, const GraphRecorder* seen);
  std::map<Index, detail::GraphStep> steps_;  // by the id of the node; constants have ids below 0
  std::map<Index, std::string> names_;
};

/// The graph behind `result` as a diagram. In a graph of up to 40 steps, each step is a box with its shape. If a
/// recorder saw the step, the box also has the step's last value, its gradient in the last backward(), and the bytes
/// that the step keeps for backward, even if other steps keep them too. Values and gradients of more than 12 numbers
/// are left out. In a larger graph, successive steps of one layer are folded into one box if a recorder saw them.
/// Errors: nothing was recorded; backward() has consumed the graph and no recorder saw it; the diagram would have more
/// than 400 boxes.
Diagram graph_diagram(const Tensor& result, const GraphRecorder* seen = nullptr);
inline std::string graph_svg(const Tensor& result) { return diagram_svg(graph_diagram(result)); }
inline std::string graph_svg(const Tensor& result, const GraphRecorder& seen) {
  return diagram_svg(graph_diagram(result, &seen));
}

}  // namespace mote
