// The backward pass: collects the ops behind a result, sorts them, and runs their rules from the newest to the oldest.
#include "engine/autograd/backward.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "engine/autograd/diagnose.h"
#include "engine/autograd/op.h"

namespace mote {

/// The sums of the gradients that one backward pass sends to each leaf. A leaf may occur many times in a graph, and
/// graphs of several threads may share leaves. So a backward pass first sums all gradients of a leaf, and then adds
/// this sum to the leaf's gradient, as PyTorch does.
class LeafSums {
 public:
  /// The sum for a leaf; not defined before the first gradient.
  Array& operator[](const NodePtr& leaf) {
    Sum& sum = sums_[leaf->id];
    if (!sum.leaf) sum.leaf = leaf;
    return sum.grad;
  }
  void add_to_leaves() {
    static std::mutex mutex;
    const std::lock_guard one_thread_at_a_time(mutex);
    for (auto& [id, sum] : sums_) {
      Array grad = std::exchange(sum.grad, Array()).contiguous();  // a rule may send a broadcast view, such as sum()'s
      if (sum.leaf->grad.defined())
        accumulate(sum.leaf->grad, grad);
      else
        sum.leaf->grad = std::move(grad);
    }
  }

 private:
  struct Sum {
    NodePtr leaf;
    Array grad;
  };
  std::map<Index, Sum, std::less<Index>, CachedAllocator<std::pair<const Index, Sum>>> sums_;  // by the leaf's id
};

Array& Grads::sum_for(std::size_t i, const Array& grad) {
  if (i < 64) sent_ |= std::uint64_t(1) << i;
  if (observer_) [[unlikely]]
    tell({.kind = Event::gradient_sent, .name = node_.op, .node = &node_, .dy = &dy_, .dx = &grad, .input = i});
  const NodePtr& to = node_.input(i);
  return to->leaf ? leaves_[to] : to->grad;
}

void Grads::add(std::size_t i, Array grad) {
  if (!wants(i)) return;
  check_in("backward", grad.defined(), "the gradient that the rule sends to input ", i, " is an empty Array()");
  Array& total = sum_for(i, grad);
  const Shape& shape = input(i)->shape;
  if (!(grad.shape() == shape)) grad = sum_to(grad, shape);
  if (!total.defined())
    total = std::move(grad);
  else
    accumulate(total, grad);
}

void Grads::add_slice(std::size_t i, Integer axis, Integer start, Integer end, Integer step, const Array& grad) {
  if (!wants(i)) return;
  Array& total = sum_for(i, grad);
  if (!total.defined()) total = Array::zeros(input(i)->shape);
  accumulate_slice(total, axis, start, end, step, grad);
}

void Grads::check_sent() const {
  for (std::size_t i = 0; i < std::min<std::size_t>(node_.input_count(), 64); ++i)
    check(!node_.input(i) || (sent_ >> i & 1) != 0, "the backward rule sends nothing to input ", i,
          ", which requires a gradient: it must call dx.add(", i, ", ...), if need be with zeros");
}

namespace {

using Nodes = std::vector<NodePtr, CachedAllocator<NodePtr>>;

/// Returns the nodes of all ops that led to `root`, including `root`, in no particular order. Uses a list instead of
/// recursion, because a graph may be a million ops deep.
Nodes collect(const NodePtr& root) {
  Nodes found;
  found.reserve(64);
  const auto see = [&found](const NodePtr& node) {
    if (!node || node->leaf) return;
    if (node->consumed) fail_consumed(*node);
    if (node->visited) return;
    found.push_back(node);
    node->visited = true;
  };
  try {
    see(root);
    for (std::size_t next = 0; next < found.size(); ++next)
      for (std::size_t i = 0; i < found[next]->input_count(); ++i) see(found[next]->input(i));
  } catch (...) {
    for (const NodePtr& node : found) node->visited = false;
    throw;
  }
  return found;
}

/// Runs the rule of a node, which sends gradients to the node's inputs.
void run_rule(const Node& node, LeafSums& leaves) {
  const During<const char*> named(thread_context.op, node.op);
  struct Watched {
    const Node& node;
    Observer* const observer = watching();
    const During<Observer*> ops_inside_are_not_told{thread_context.observer, nullptr};
    explicit Watched(const Node& n) : node(n) {
      if (observer) tell({.kind = Event::rule_opened, .name = node.op, .node = &node, .dy = &node.grad});
    }
    ~Watched() {
      if (observer) tell_closed({.kind = Event::rule_closed, .name = node.op, .node = &node});
    }
  } const watched(node);
  // No rule sent this node a gradient. check_sent() reports such a rule, but only for the first 64 inputs of an op.
  if (!node.grad.defined()) return;
  Grads dx(node, node.grad, leaves, watched.observer);
  node.backward(node.grad, dx);
  dx.check_sent();
}

/// Frees the inputs and the rule of a node, and its gradient unless `keep_gradient` is true. A node is dropped as soon
/// as its rule has run, or after an error.
void drop(Node& node, bool keep_gradient) {
  node.clear_inputs();
  node.backward = BackwardRule();
  if (!keep_gradient) node.grad = Array();
}

}  // namespace

void send_back(const NodePtr& root, const Array& dy) {
  const NoGrad rules_are_not_recorded;
  Nodes nodes = collect(root);
  std::sort(nodes.begin(), nodes.end(), [](const NodePtr& a, const NodePtr& b) { return a->id < b->id; });
  for (const NodePtr& node : nodes) node->consumed = true;

  LeafSums leaves;
  (root->leaf ? leaves[root] : root->grad) = dy;
  try {
    for (; !nodes.empty(); nodes.pop_back()) {
      Node& newest = *nodes.back();
      run_rule(newest, leaves);
      drop(newest, newest.retain);
    }
  } catch (...) {
    for (const NodePtr& node : nodes) drop(*node, false);
    throw;
  }
  leaves.add_to_leaves();
  thread_context.unrecorded = nullptr;
}

}  // namespace mote
