// Backward: from a result to the leaves, newest op first; each op's rule runs once and is then dropped.
#include "engine/autograd/backward.h"

#include <algorithm>
#include <mutex>

#include "engine/autograd/diagnose.h"
#include "engine/autograd/op.h"
#include "engine/base/fork.h"

namespace mote {
namespace {

template <class T>
using List = std::vector<T, CachedAllocator<T>>;

bool older(const NodePtr& a, const NodePtr& b) { return a->id < b->id; }

/// Graphs of several threads may share leaves; everything else belongs to one thread's graph. Gradients of a shared
/// leaf accumulate in the order in which the threads' backward passes end.
std::mutex leaf_mutex;
[[maybe_unused]] const bool leaves_over_fork = on_fork([] { leaf_mutex.lock(); }, [] { leaf_mutex.unlock(); });

}  // namespace

class LeafSums {
 public:
  LeafSums() { sums_.reserve(8); }
  void append(const NodePtr& leaf) {
    if (sums_.empty() || sums_.back().leaf != leaf) sums_.emplace_back().leaf = leaf;
  }
  /// After the last leaf, which may be there several times.
  void sort() {
    const auto before = [](const Sum& a, const Sum& b) { return older(a.leaf, b.leaf); };
    if (!std::is_sorted(sums_.begin(), sums_.end(), before)) std::sort(sums_.begin(), sums_.end(), before);
    const auto same = [](const Sum& a, const Sum& b) { return a.leaf == b.leaf; };
    sums_.erase(std::unique(sums_.begin(), sums_.end(), same), sums_.end());
  }
  /// Leaves found while sums are under way.
  void add(const LeafSums& found) {
    for (const Sum& more : found.sums_) {
      const auto at = find(more.leaf);
      if (at == sums_.end() || at->leaf != more.leaf) sums_.insert(at, more);
    }
  }
  /// Where to add; undefined at first.
  Array& operator[](const NodePtr& leaf) { return find(leaf)->grad; }
  /// All leaves receive their sums, or none if there is no memory.
  void commit() {
    const std::lock_guard lock(leaf_mutex);
    for (Sum& sum : sums_) {
      if (!sum.grad.defined()) continue;
      if (sum.leaf->grad.defined()) sum.leaf->grad.mutate();
      sum.grad = sum.grad.contiguous();  // that of sum(x) is one element seen as many
    }
    for (Sum& sum : sums_) {
      if (!sum.grad.defined()) continue;
      if (sum.leaf->grad.defined())
        accumulate(sum.leaf->grad, sum.grad);
      else
        sum.leaf->grad = std::move(sum.grad);
    }
  }

 private:
  struct Sum {
    NodePtr leaf;
    Array grad;
  };
  List<Sum>::iterator find(const NodePtr& leaf) {
    const auto before = [](const Sum& sum, const NodePtr& wanted) { return older(sum.leaf, wanted); };
    return std::lower_bound(sums_.begin(), sums_.end(), leaf, before);
  }
  List<Sum> sums_;  // oldest leaf first
};

Array& Grads::sum_for(std::size_t i, const Array& grad) {
  if (i < 64) sent_ |= std::uint64_t(1) << i;
  if (watch_) [[unlikely]]
    watch_->gradient_sent(node_, i, grad, dy_);
  const NodePtr& to = node_.input(i);
  return to->leaf ? leaves_[to] : to->grad;
}

void Grads::add(std::size_t i, Array grad) {
  if (!wants(i)) return;
  check_in("backward", grad.defined(), "the gradient for input ", i, " is not defined");
  Array& total = sum_for(i, grad);
  const Shape& shape = input(i)->shape;
  if (!(grad.shape() == shape)) grad = sum_to(grad, shape);
  if (!total.defined())
    total = std::move(grad);
  else
    accumulate(total, grad);
}

void Grads::add_slice(std::size_t i, int axis, Index start, Index end, Index step, const Array& grad) {
  if (!wants(i)) return;
  Array& total = sum_for(i, grad);
  if (!total.defined()) total = Array::zeros(input(i)->shape);
  accumulate_slice(total, axis, start, end, step, grad);
}

void Grads::check_sent() const {
  for (std::size_t i = 0; i < std::min<std::size_t>(node_.input_count(), 64); ++i)
    check(!node_.input(i) || (sent_ >> i & 1) != 0, "the rule sends nothing to input ", i,
          ", which requires a gradient: it must call dx.add(", i, ", ...), if need be with zeros");
}

namespace {

/// All nodes behind `root`, oldest first, and all leaves, but nothing behind those that are `pending` in this backward.
/// Depth is unbounded: an explicit list.
List<NodePtr> collect(const NodePtr& root, LeafSums& leaves, const List<NodePtr>& pending = {}) {
  struct Found {
    List<NodePtr> nodes;
    ~Found() {  // after an error; otherwise they have been handed over
      for (const NodePtr& node : nodes) node->visited = false;
    }
  } found;
  found.nodes.reserve(64);
  const auto see = [&](const NodePtr& node) {
    if (!node) return;
    if (node->leaf) return leaves.append(node);
    if (node->consumed && std::binary_search(pending.begin(), pending.end(), node, older)) return;
    if (node->consumed) fail_consumed(*node);
    if (node->visited) return;
    found.nodes.push_back(node);
    node->visited = true;
  };
  see(root);
  for (std::size_t next = 0; next < found.nodes.size(); ++next)
    for (std::size_t i = 0; i < found.nodes[next]->input_count(); ++i) see(found.nodes[next]->input(i));
  std::sort(found.nodes.begin(), found.nodes.end(), older);
  leaves.sort();
  return std::move(found.nodes);
}

/// Sends one node's gradient to its inputs, then drops all it held, even if the rule throws. Returns what the rule has
/// recorded in place of its op, if so, and the gradient that goes through that.
std::pair<NodePtr, Array> run_rule(Node& node, LeafSums& leaves) {
  struct Held {
    Node& node;
    BackwardRule rule = std::move(node.backward);
    Array dy = node.retain ? node.grad : std::move(node.grad);
    ~Held() { node.clear_inputs(); }
  } held{node};
  const During<const char*> named(thread_context.op, node.op);
  struct Watched {
    const Node& node;
    Watch* const watch = watching();
    const During<Watch*> ops_inside_are_not_reported{thread_context.watch, nullptr};
    Watched(const Node& n, const Array& dy) : node(n) {
      if (watch) watch->rule_opened(node, dy);
    }
    ~Watched() {
      if (watch) watch->rule_closed(node);
    }
  } watched(node, held.dy);
  if (!held.dy.defined()) return {};  // nothing was sent: an op with more inputs than check_sent() looks at took it
  Grads dx(node, held.dy, leaves, watched.watch);
  held.rule(held.dy, dx);
  dx.check_sent();
  return {dx.recorded_again(), held.dy};
}

/// What is behind y runs as if it had been recorded in the forward pass: in the same order, so sums have the same bits.
void go_on_through(const NodePtr& y, const Array& dy, List<NodePtr>& nodes, LeafSums& leaves) {
  LeafSums found;
  const List<NodePtr> inside = collect(y, found, nodes);
  leaves.add(found);
  nodes.insert(nodes.end(), inside.begin(), inside.end());
  for (const NodePtr& node : inside) node->consumed = true;
  std::sort(nodes.begin(), nodes.end(), older);
  Array& total = y->leaf ? leaves[y] : y->grad;
  if (total.defined())
    accumulate(total, dy);
  else
    total = dy;
}

}  // namespace

void send_back(const NodePtr& root, const Array& dy) {
  const NoGrad rules_are_not_recorded;
  LeafSums leaves;
  List<NodePtr> nodes = collect(root, leaves);
  for (const NodePtr& node : nodes) node->consumed = true;
  (root->leaf ? leaves[root] : root->grad) = dy;
  try {
    while (!nodes.empty()) {
      const auto [again, its_dy] = run_rule(*nodes.back(), leaves);
      nodes.pop_back();
      if (again) go_on_through(again, its_dy, nodes, leaves);
    }
    leaves.commit();
  } catch (...) {
    for (const NodePtr& node : nodes) {
      node->clear_inputs();
      node->backward = BackwardRule();
      node->grad = Array();
    }
    throw;
  }
  thread_context.unrecorded = nullptr;
}

}  // namespace mote
