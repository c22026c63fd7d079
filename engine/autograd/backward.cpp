// Backward: from a result to the leaves, newest op first; each op's rule runs once and is then dropped.
#include <algorithm>
#include <map>
#include <mutex>

#ifdef __unix__
#include <pthread.h>
#endif

#include "engine/autograd/grads.h"
#include "engine/autograd/no_grad.h"
#include "engine/autograd/observer.h"
#include "engine/autograd/parameter.h"

namespace mote {
namespace {

using NodeList = std::vector<NodePtr, CachedAllocator<NodePtr>>;

/// Graphs of several threads may share leaves; everything else belongs to one thread's graph. Gradients of a shared
/// leaf accumulate in the order in which the threads' backward passes end.
std::mutex leaf_mutex;
#ifdef __unix__
/// As with the memory cache, fork() waits until no other thread is inside. The cache's lock is taken after this one, so
/// its handler is registered first: handlers run in reverse order before the fork.
const int held_over_fork = [] {
  memory_stats();
  const auto unlock = [] { leaf_mutex.unlock(); };
  return pthread_atfork([] { leaf_mutex.lock(); }, unlock, unlock);
}();
#endif

}  // namespace

/// What one backward sends to each leaf. Leaves receive it at the end: if it fails before, their gradients are
/// unchanged.
class LeafSums {
 public:
  /// Where to add; undefined at first.
  Array& operator[](const NodePtr& leaf) {
    if (places_.empty()) {
      for (std::size_t i = 0; i < sums_.size(); ++i)
        if (sums_[i].leaf == leaf) return sums_[i].grad;
    } else if (const auto found = places_.find(leaf.get()); found != places_.end()) {
      return sums_[found->second].grad;
    }
    Sum& added = sums_.append();
    added.leaf = leaf;
    if (sums_.size() > few)
      for (std::size_t i = places_.size(); i < sums_.size(); ++i) places_.emplace(sums_[i].leaf.get(), i);
    return added.grad;
  }

  void commit() {
    const std::lock_guard lock(leaf_mutex);
    for (std::size_t i = 0; i < sums_.size(); ++i) {  // all the memory first
      Array& total = sums_[i].leaf->grad;
      if (total.defined()) total.mutate();
      sums_[i].grad = sums_[i].grad.contiguous();  // that of sum(x) is one element seen as many
    }
    for (std::size_t i = 0; i < sums_.size(); ++i) {
      Array& total = sums_[i].leaf->grad;
      if (total.defined())
        accumulate(total, sums_[i].grad);
      else
        total = std::move(sums_[i].grad);
    }
  }

 private:
  struct Sum {
    NodePtr leaf;
    Array grad;
  };
  static constexpr std::size_t few = 32;  // up to here, looking at all is faster than a table
  using Place = std::pair<const Node* const, std::size_t>;
  SmallVector<Sum, 2, CachedAllocator<Sum>> sums_;
  std::map<const Node*, std::size_t, std::less<>, CachedAllocator<Place>> places_;
};

Array& Grads::sum(std::size_t i) {
  const NodePtr& to = node_.input(i);
  return to->leaf ? leaves_[to] : to->grad;
}

void Grads::tell(std::size_t i, const Array& grad) const {
  Watchers::tell([&](Observer& o) { o.gradient_sent(node_, i, grad, dy_); });
}

void Grads::add(std::size_t i, Array grad) {
  Node* const to = input(i);
  if (!to) return;
  check_in("backward", grad.defined(), "the gradient for input ", i, " is not defined");
  mark(i);
  if (watched_) tell(i, grad);
  if (!(grad.shape() == to->shape)) grad = sum_to(grad, to->shape);
  Array& total = sum(i);
  if (!total.defined())
    total = std::move(grad);
  else
    accumulate(total, grad);
}

void Grads::add_slice(std::size_t i, int axis, Index start, Index end, Index step, const Array& grad) {
  Node* const to = input(i);
  if (!to) return;
  mark(i);
  if (watched_) tell(i, grad);
  Array& total = sum(i);
  if (!total.defined()) total = Array::zeros(to->shape);
  accumulate_slice(total, axis, start, end, step, grad);
}

namespace {

/// Every tracked node that `root` was computed from, except leaves, oldest first. Depth is unbounded: explicit stack.
NodeList collect(const NodePtr& root) {
  const std::uint64_t visit = Node::fresh_id();
  NodeList found;
  found.reserve(64);
  const auto see = [&](const NodePtr& node) {
    if (!node || node->leaf || node->visit == visit) return;
    check_in("backward", !node->consumed, "the graph behind '", node->op, "' ", node->shape,
             " was consumed by an earlier backward: ",
             node->replaced_leaf
                 ? "an update like w -= ... is recorded, too; a weight that you update is a Parameter, by "
                   "w.set(w.value() - ...)"
                 : "run the forward pass again, or add the losses and call backward once",
             node->recorded && !node->recorded->layer.empty() ? " (in " + node->recorded->layer + ")" : "");
    node->visit = visit;
    found.push_back(node);
  };
  see(root);
  for (std::size_t next = 0; next < found.size(); ++next)
    for (std::size_t i = 0; i < found[next]->input_count(); ++i) see(found[next]->input(i));
  std::sort(found.begin(), found.end(), [](const NodePtr& a, const NodePtr& b) { return a->id < b->id; });
  return found;
}

/// Sends one node's gradient to its inputs, then drops all it held, even if the rule throws.
void run_rule(Node& node, LeafSums& leaves) {
  struct Held {
    Node& node;
    const char* outer_op = std::exchange(thread_context.op, node.op);
    BackwardRule rule = std::move(node.backward);
    Array dy = node.retain ? node.grad : std::move(node.grad);
    bool watched = Watchers::any(), opened = false;
    ~Held() {
      if (opened) Watchers::tell([this](Observer& o) { o.rule_closed(node); });
      thread_context.op = outer_op;
      node.clear_inputs();
    }
  } held{node};
  if (held.watched) [[unlikely]] {
    Watchers::tell([&](Observer& o) { o.rule_opened(node, held.dy); });
    held.opened = true;
  }
  const Watchers::Quiet ops_inside_are_not_reported;
  Grads dx(node, held.dy, leaves, held.watched);
  if (!held.dy.defined()) return;
  held.rule(held.dy, dx);
  dx.check_sent();
}

/// Why a result may not be tracked, as far as this thread and the parameters tell.
std::string why_untracked() {
  const std::string start = "nothing this tensor was computed from requires a gradient";
  if (thread_context.unrecorded)
    return start + ": the op '" + thread_context.unrecorded + "' ended without op.record(...), which sends it back";
  const Index frozen = frozen_parameters(), all = live_parameters();
  if (frozen > 0 && frozen == all)
    return start + ": the model is frozen, all " + text_of(static_cast<long long>(all)) +
           " parameters of it; set_trainable(model, true) lets it train";
  return start + " (or it was computed under NoGrad, even by w -= ..., or detached" +
         (frozen > 0 ? "; " + text_of(static_cast<long long>(frozen)) + " of " + text_of(static_cast<long long>(all)) +
                           " parameters in this program are frozen)"
                     : ")");
}

}  // namespace

void Tensor::backward() const {
  value_.require("backward");
  check_in("backward", numel() == 1, "the result has shape ", shape(),
           ", not one element: reduce it with sum() or mean(), or pass dy of that shape");
  backward(Array::full(shape(), 1));
}

void Tensor::backward(const Array& dy) const {
  value_.require("backward");
  if (!node_) check_in("backward", false, why_untracked());
  check_in("backward", dy.defined(), "dy is not defined");
  check_in("backward", dy.shape() == shape(), "dy has shape ", dy.shape(), ", the result ", shape());
  const NoGrad rules_are_not_recorded;
  if (node_->leaf) {
    const std::lock_guard lock(leaf_mutex);
    if (!node_->grad.defined())
      node_->grad = dy.contiguous();
    else
      accumulate(node_->grad, dy);
    return;
  }
  NodeList nodes = collect(node_);
  for (const NodePtr& node : nodes) node->consumed = true;
  node_->grad = dy;
  LeafSums leaves;
  try {
    for (; !nodes.empty(); nodes.pop_back()) run_rule(*nodes.back(), leaves);
  } catch (...) {
    for (const NodePtr& node : nodes) {
      node->clear_inputs();
      node->backward = BackwardRule();
      node->grad = Array();
    }
    throw;
  }
  leaves.commit();
  thread_context.unrecorded = nullptr;
}

}  // namespace mote
