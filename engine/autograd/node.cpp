// Construction and destruction of nodes. A loop destroys a chain of nodes of any length.
#include "engine/autograd/node.h"

#include <atomic>

namespace mote {
namespace {

std::atomic<Index> made{0}, dropped{0};

}  // namespace

Index live_nodes() { return made - dropped; }

Node::Node(const char* name, const Shape& s) : op(name), shape(s), id(detail::count_up<Index>(made, 1)) {}

Node::~Node() {
  clear_inputs();
  detail::count_up<Index>(dropped, 1);
}

/// Dropping an input may destroy it, then its own inputs, and so on along a chain of any length. Such nodes are put on
/// a list and emptied one by one, so that the stack never grows. The list is linked through the nodes themselves,
/// because a destructor must not allocate memory.
void Node::clear_inputs() noexcept {
  NodePtr dying;
  const auto drop_inputs = [&dying](Node& node) {
    for (std::size_t i = 0; i < node.inputs_.size(); ++i) {
      NodePtr& input = node.inputs_[i];
      if (input && input->inputs_.size() > 0 && input.use_count() == 1) {
        input->dying_ = std::move(dying);
        dying = std::move(input);
      }
      input.reset();
    }
    node.inputs_.clear();
  };
  drop_inputs(*this);
  while (dying) {
    const NodePtr node = std::move(dying);
    dying = std::move(node->dying_);
    drop_inputs(*node);
  }
}

}  // namespace mote
