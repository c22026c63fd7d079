// Construction and destruction of nodes: a loop drops a chain of any length.
#include "engine/autograd/node.h"

#include <atomic>

#include "engine/base/shared_count.h"

namespace mote {
namespace {

std::atomic<std::uint64_t> next_id{1};
std::atomic<Index> nodes_alive{0};

}  // namespace

Index live_nodes() { return nodes_alive.load(); }

std::uint64_t Node::fresh_id(std::uint64_t floor) {
  constexpr std::uint64_t at_once = 1024;  // a thread takes that many at once, each time above all that were taken
  static constinit thread_local std::uint64_t next = 0, end = 0;
  if (next == end || next <= floor) end = (next = next_id.fetch_add(at_once, std::memory_order_relaxed)) + at_once;
  return next++;
}

Node::Node(const char* name, const Shape& s) : op(name), shape(s), id(fresh_id()) {
  detail::count_up<Index>(nodes_alive, 1);
}

Node::~Node() {
  clear_inputs();
  detail::count_up<Index>(nodes_alive, -1);
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
