// Node, one step of the recorded graph.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/autograd/rule.h"
#include "engine/base/small_vector.h"

namespace mote {

struct Node;
using NodePtr = std::shared_ptr<Node>;

/// What observers may query about an op in backward; kept only for nodes recorded while an observer is active.
struct Recorded {
  std::string layer;  ///< the path of the layer the op was in, "" outside every layer or if only MOTE_PROFILE watches
  std::vector<Index> gradient_flops;  ///< the work of each input's gradient, if the op stated it
  // Filled in by MOTE_PROFILE:
  int layer_number = -1;  ///< of the layer's class
  bool moves = false;     ///< no view: its rule does work of its own
  Index kept_bytes = 0;   ///< for the rule
};

/// One recorded op, or a leaf. It holds no value: an activation lives only while a Tensor or a rule needs it.
/// Ids increase along every path of a graph, and with time on one thread: their order is a topological order. Nodes own
/// their inputs, never their consumers, and rules cannot hold nodes (rule.h): there are no cycles.
struct Node {
  const char* op;
  Shape shape;
  std::uint64_t id;
  std::uint64_t visit = 0;     ///< the last backward that saw this node
  bool leaf = false;           ///< a Parameter or an input with requires_grad: its gradient stays until zero_grad
  bool retain = false;         ///< an intermediate with retain_grad()
  bool consumed = false;       ///< backward has run and dropped the rule
  bool replaced_leaf = false;  ///< w -= ... made it the value of a name that stood for a leaf
  Array grad;
  BackwardRule backward;
  std::unique_ptr<Recorded> recorded;

  Node(const char* op, const Shape& shape);
  ~Node();  // a loop, not a recursion: this node may own a chain of a million nodes
  Node(const Node&) = delete;

  std::size_t input_count() const { return inputs_.size(); }
  /// The i-th input's node; null if that input is not tracked.
  const NodePtr& input(std::size_t i) const { return inputs_[i]; }
  void add_input(const NodePtr& node) {
    if (node && node->id >= id) id = fresh_id(node->id);  // another thread has recorded it
    inputs_.push_back(node);
  }
  /// A number above `floor` that no other call returns; on each thread they increase.
  static std::uint64_t fresh_id(std::uint64_t floor = 0);
  void clear_inputs() noexcept;

 private:
  SmallVector<NodePtr, 4, CachedAllocator<NodePtr>> inputs_;  // nearly every op has at most four
  NodePtr dying_;                                             // the next of a list that clear_inputs() empties
};

/// Nodes alive in this process. If a training step increases it, something leaks.
Index live_nodes();

}  // namespace mote
