// Node, one step of the recorded graph.
#pragma once

#include <memory>

#include "engine/autograd/rule.h"
#include "engine/base/small_vector.h"

namespace mote {

struct Node;
/// A shared pointer to a node of a graph.
using NodePtr = std::shared_ptr<Node>;

/// A node of the recorded graph: one op, or a leaf. A node does not hold the op's result, so an activation lives only
/// while a Tensor or a rule needs it. Across all threads, a newer node has a larger id. So the order of ids is a
/// topological order. Nodes own their inputs but never their consumers, and rules cannot hold nodes (rule.h). So there
/// are no cycles.
struct Node {
  const char* op;  ///< the op's name, a string literal
  Shape shape;
  Index id;
  bool visited = false;        ///< whether the backward pass that is starting has already found this node
  bool leaf = false;           ///< a Parameter or an input with requires_grad; its gradient stays until zero_grad()
  bool retain = false;         ///< an intermediate result that keeps its gradient, by retain_grad()
  bool consumed = false;       ///< whether a backward pass has used this node, and so has freed its rule
  bool replaced_leaf = false;  ///< w -= ... made this node and replaced the leaf w, which error messages explain
  Array grad;
  BackwardRule backward;
  mutable std::shared_ptr<void> noted;  ///< notes of observers on this node (engine/watch/notes.h), or null

  Node(const char* op, const Shape& shape);
  ~Node();  // a loop instead of recursion, since this node may own a chain of a million nodes
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
  NodePtr dying_;                                             // the next node in the list that clear_inputs() empties
};

/// The number of nodes alive in this process. Each parameter has one node. If the number grows with every training
/// step, something leaks.
Index live_nodes();

}  // namespace mote
