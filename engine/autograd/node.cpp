// Construction and destruction of nodes: a loop drops a chain of any length.
#include "engine/autograd/node.h"

#include <atomic>

namespace mote {
namespace {

std::atomic<std::uint64_t> next_block{0};
std::atomic<Index> alive{0};

/// Above `least`. A thread takes many at once, above all that were taken: a locked instruction costs half an op.
std::uint64_t next_id(std::uint64_t least) {
  constexpr std::uint64_t at_once = 1024;
  static constinit thread_local std::uint64_t last = 0;
  if (last % at_once == 0 || last < least) last = at_once * next_block.fetch_add(1, std::memory_order_relaxed);
  return ++last;
}

}  // namespace

Index live_nodes() { return alive; }

Node::Node(const char* name, const Shape& s) : op(name), shape(s), id(next_id(0)) { detail::count_up<Index>(alive, 1); }

Node::~Node() {
  clear_inputs();
  detail::count_up<Index>(alive, -1);
}

void Node::add_input(const NodePtr& node) {
  if (node && node->id > id) id = next_id(node->id);  // of another thread
  inputs_.push_back(node);
}

/// Dropping an input may drop the last handle to it, then to its inputs, and so on along a chain of any length. Such
/// nodes are put on a list and emptied one by one, so that the stack never grows. The nodes themselves are the links of
/// the list: what runs in destructors must not need memory.
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
