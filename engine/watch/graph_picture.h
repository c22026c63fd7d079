// graph_svg: a recorded graph as a picture. GraphRecorder: its values and gradients, for such a picture.
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
  std::vector<std::string> value = {}, gradient = {};  ///< in lines
};
}  // namespace detail

/// Remembers what its thread records from here on, for a picture: a graph holds no values, and backward() drops it.
///
///     GraphRecorder seen;
///     const Tensor loss = sum(x * w);
///     loss.backward();
///     write_file("graph.svg", graph_svg(loss, seen.name(w, "w")));
class GraphRecorder : public Observer {
 public:
  GraphRecorder() { watch(); }
  /// What a tensor or a parameter is called in the picture. Errors: it requires no gradient.
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

/// The graph behind `result`. Of up to 40 steps each is a box with its shape and, as far as a recorder saw it, its
/// last value and its gradient in the last backward() (of up to 12 numbers), and the bytes that it keeps for backward,
/// shared ones included. Of more steps, those that a recorder saw are folded by layer. Errors: nothing was recorded;
/// backward() has consumed the graph and no recorder saw it; over 400 boxes.
Diagram graph_diagram(const Tensor& result, const GraphRecorder* seen = nullptr);
inline std::string graph_svg(const Tensor& result) { return diagram_svg(graph_diagram(result)); }
inline std::string graph_svg(const Tensor& result, const GraphRecorder& seen) {
  return diagram_svg(graph_diagram(result, &seen));
}

}  // namespace mote
