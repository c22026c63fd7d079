// Node, one step of the recorded graph.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/autograd/backward_rule.h"

namespace mote {

struct Node;
using NodePtr = std::shared_ptr<Node>;

/// One recorded op, or a leaf. It holds no value: an activation lives only while a Tensor or a rule needs it.
/// Ids grow with time, so creation order is a topological order. Nodes own their inputs, never their consumers; since
/// rules hold only Arrays, there are no cycles.
struct Node {
  const char* op;
  Shape shape;
  std::uint64_t id;
  std::uint64_t visit = 0;  ///< the last backward that saw this node
  bool leaf = false;        ///< a Parameter or an input with requires_grad: its gradient stays until zero_grad
  bool retain = false;      ///< an intermediate whose gradient somebody asked for
  bool consumed = false;    ///< backward has been through and dropped the rule
  Array grad;
  BackwardRule backward;
  std::unique_ptr<std::string> layer;  ///< the layer's path, kept only while MOTE_CHECK or MOTE_DEBUG is on

  Node(const char* op, const Shape& shape);
  ~Node();  // a loop, not a recursion: a chain of a million nodes may hang on this one
  Node(const Node&) = delete;

  std::size_t input_count() const { return count_; }
  /// The i-th input's node; null when that input is not tracked.
  const NodePtr& input(std::size_t i) const { return i < few ? first_[i] : rest_[i - few]; }
  void add_input(NodePtr node) {
    if (count_ < few)
      first_[count_] = std::move(node);
    else
      rest_.push_back(std::move(node));
    ++count_;
  }
  void clear_inputs();

 private:
  static constexpr std::size_t few = 4;  // nearly every op has at most four inputs
  std::size_t count_ = 0;
  std::array<NodePtr, few> first_;
  std::vector<NodePtr, CachedAllocator<NodePtr>> rest_;
};

/// Nodes alive in this process. Back to its old value after a training step, or something leaks.
Index live_nodes();

}  // namespace mote
