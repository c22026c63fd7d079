// Node, one step of the recorded graph.
#pragma once

#include <memory>

#include "engine/autograd/rule.h"
#include "engine/base/small_vector.h"

namespace mote {

struct Node;
using NodePtr = std::shared_ptr<Node>;

/// One recorded op, or a leaf. It holds no value: an activation lives only while a Tensor or a rule needs it.
/// Ids grow with time, whatever the thread. So they grow from leaves to results: their order is a topological order.
/// Nodes own their inputs, never their consumers, and rules cannot hold nodes (rule.h): there are no cycles.
struct Node {
  const char* op;  ///< a literal, which lives as long as the program
  Shape shape;
  Index id;
  bool visited = false;        ///< the backward that is about to run has found this node
  bool leaf = false;           ///< a Parameter or an input with requires_grad: its gradient stays until zero_grad
  bool retain = false;         ///< an intermediate with retain_grad()
  bool consumed = false;       ///< backward has run and dropped the rule
  bool replaced_leaf = false;  ///< w -= ... made it the value of a name that stood for a leaf
  Array grad;
  BackwardRule backward;
  mutable std::shared_ptr<void> noted;  ///< what observers note of it (engine/watch/notes.h); null when nobody did

  Node(const char* op, const Shape& shape);
  ~Node();  // a loop, not a recursion: this node may own a chain of a million nodes
  Node(const Node&) = delete;
  static NodePtr make(const char* op, const Shape& shape) {
    return std::allocate_shared<Node>(CachedAllocator<Node>(), op, shape);
  }
  static NodePtr make_leaf(const char* op, const Shape& shape) {
    NodePtr node = make(op, shape);
    node->leaf = true;
    return node;
  }

  std::size_t input_count() const { return inputs_.size(); }
  /// The i-th input's node; null if that input is not tracked.
  const NodePtr& input(std::size_t i) const { return inputs_[i]; }
  void add_input(const NodePtr& node) { inputs_.push_back(node); }
  void clear_inputs() noexcept;

 private:
  SmallVector<NodePtr, 4, CachedAllocator<NodePtr>> inputs_;  // nearly every op has at most four
  NodePtr dying_;                                             // the next of a list that clear_inputs() empties
};

/// The number of nodes alive in this process. Each parameter has one. If the number grows with every training step,
/// something leaks.
Index live_nodes();

}  // namespace mote
