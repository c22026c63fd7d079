// The parts of Op off the fast path: creating its node and notifying observers.
#include "engine/autograd/op.h"

namespace mote {

NodePtr Op::make_node(const Shape& shape) const {
  NodePtr node = std::allocate_shared<Node>(CachedAllocator<Node>(), name_, shape);
  for (std::size_t i = 0; i < inputs_.size(); ++i) node->add_input(*inputs_[i].node);
  return node;
}

Op::Statement& Op::state() {
  if (!statement_) statement_ = std::make_unique<Statement>();
  return *statement_;
}

void Op::state_flops(Index forward, std::initializer_list<Index> per_gradient) {
  state().flops = forward;
  state().gradient_flops = per_gradient;
}

void Op::tell_opened() {
  try {
    Watchers::tell([this](Observer& o) { o.op_opened(*this); });
  } catch (...) {  // inside the constructor: the destructor will not run
    thread_context.op = outer_;
    throw;
  }
}

void Op::tell_recorded(const Array& value, Index kept_bytes, Node* node) {
  const Statement& stated = state();
  if (node)
    node->recorded = std::make_unique<Recorded>(
        Recorded{Watchers::want_paths() ? current_layer() : std::string(), stated.gradient_flops});
  std::vector<const Array*> inputs;
  for (std::size_t i = 0; i < inputs_.size(); ++i) inputs.push_back(inputs_[i].array);
  const OpReport report{name_, inputs, value, stated.flops, kept_bytes, infinity_on_purpose_, stated.notes, node};
  Watchers::tell([&](Observer& o) { o.op_recorded(report); });
}

}  // namespace mote
