// backward, the life and death of nodes, and what MOTE_DEBUG and MOTE_CHECK look at.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <iostream>
#include <mutex>

#ifdef __unix__
#include <pthread.h>
#endif

#include "engine/autograd/op.h"

namespace mote {
namespace {

std::atomic<std::uint64_t> next_id{1}, next_visit{1};
std::atomic<Index> nodes_alive{0}, parameters_alive{0};

using NodeList = std::vector<NodePtr, CachedAllocator<NodePtr>>;

/// Leaves may be shared by graphs of several threads; everything else belongs to one thread's graph. Gradients then add
/// up in the order of arrival.
std::mutex leaf_mutex;
#ifdef __unix__
/// As with the memory cache, fork() waits until no other thread is inside. That one's lock is taken after this one, so
/// it is registered first: handlers run backwards before the fork.
const int held_over_fork = [] {
  memory_stats();
  const auto unlock = [] { leaf_mutex.unlock(); };
  return pthread_atfork([] { leaf_mutex.lock(); }, unlock, unlock);
}();
#endif

bool has_nan(const Array& x) { return x.numel() > 0 && std::isnan(max(x).item()); }
bool has_infinity(const Array& x) { return x.numel() > 0 && std::isinf(max(map(kernels::table().abs, x)).item()); }

std::string where(const Node& node) { return node.layer && !node.layer->empty() ? " (in " + *node.layer + ")" : ""; }

}  // namespace

Index live_nodes() { return nodes_alive.load(); }
Index live_parameters() { return parameters_alive.load(); }

Node::Node(const char* name, const Shape& s) : op(name), shape(s), id(next_id.fetch_add(1, std::memory_order_relaxed)) {
  nodes_alive.fetch_add(1, std::memory_order_relaxed);
}

Node::~Node() {
  clear_inputs();
  nodes_alive.fetch_sub(1, std::memory_order_relaxed);
}

/// Dropping an input may drop the last handle to it, then to its inputs, and so on down a chain of any length. Such
/// nodes are moved to a list and emptied one by one, so that the stack never grows.
void Node::clear_inputs() {
  NodeList dying;
  const auto let_go = [&dying](Node& node) {
    for (std::size_t i = 0; i < node.count_; ++i) {
      NodePtr& input = i < few ? node.first_[i] : node.rest_[i - few];
      if (input && input->count_ > 0 && input.use_count() == 1) dying.push_back(std::move(input));
      input.reset();
    }
    node.count_ = 0;
    node.rest_.clear();
  };
  let_go(*this);
  while (!dying.empty()) {
    const NodePtr node = std::move(dying.back());
    dying.pop_back();
    let_go(*node);
  }
}

void Grads::inspect(std::size_t i, const Array& grad) const {
  if (!settings().check_finite) return;
  const Shape& shape = node_.input(i)->shape;
  check(!has_nan(grad), "backward: the gradient for input ", i, " of shape ", shape, " has a NaN (dy ", dy_.shape(),
        ")", where(node_));
  check(!has_infinity(grad) || has_infinity(dy_), "backward: the gradient for input ", i, " of shape ", shape,
        " has an infinity (dy ", dy_.shape(), ")", where(node_));
}

void Grads::add(std::size_t i, Array grad) {
  Node* const to = input(i);
  if (!to) return;
  check_in("backward", grad.defined(), "the gradient for input ", i, " is not defined");
  inspect(i, grad);
  if (!(grad.shape() == to->shape)) grad = sum_to(grad, to->shape);
  std::unique_lock lock(leaf_mutex, std::defer_lock);
  if (to->leaf) lock.lock();
  if (!to->grad.defined())
    to->grad = std::move(grad);
  else
    accumulate(to->grad, grad);
}

void Grads::add_slice(std::size_t i, int axis, Index start, Index end, Index step, const Array& grad) {
  Node* const to = input(i);
  if (!to) return;
  inspect(i, grad);
  std::unique_lock lock(leaf_mutex, std::defer_lock);
  if (to->leaf) lock.lock();
  if (!to->grad.defined()) to->grad = Array::zeros(to->shape);
  accumulate_slice(to->grad, axis, start, end, step, grad);
}

Tensor& Tensor::requires_grad_(bool on) & {
  check_in("requires_grad_", defined(), "this tensor is not defined");
  check_in("requires_grad_", !node_ || node_->leaf, "this tensor is the result of '", node_ ? node_->op : "",
           "'; only leaves can be switched: detach() it first");
  if (!on) node_.reset();
  if (!on || node_) return *this;
  node_ = std::allocate_shared<Node>(CachedAllocator<Node>(), "leaf", shape());
  node_->leaf = true;
  return *this;
}

const Array& Tensor::grad() const {
  static const Array none;
  return node_ ? node_->grad : none;
}
void Tensor::zero_grad() {
  if (node_) node_->grad = Array();
}
void Tensor::retain_grad() {
  check_in("retain_grad", node_ != nullptr, "this tensor is not tracked: nothing it was made from requires a gradient");
  node_->retain = true;
}

void Tensor::backward() const {
  check_in("backward", numel() == 1, "the result has shape ", shape(),
           ", not one element: reduce it with sum() or mean(), or pass dy of that shape");
  backward(Array::full(shape(), 1));
}

namespace {

/// Every tracked node that `root` was made from, leaves excepted, oldest first. An explicit stack, since depth is
/// unbounded.
NodeList collect(const NodePtr& root) {
  const std::uint64_t visit = next_visit.fetch_add(1, std::memory_order_relaxed);
  NodeList found;
  const auto see = [&](const NodePtr& node) {
    if (!node || node->leaf || node->visit == visit) return;
    check_in("backward", !node->consumed, "the graph behind '", node->op, "' ", node->shape,
             " was consumed by an earlier backward: run the forward pass again, or add the losses and go back once",
             where(*node));
    node->visit = visit;
    found.push_back(node);
  };
  see(root);
  for (std::size_t next = 0; next < found.size(); ++next)
    for (std::size_t i = 0; i < found[next]->input_count(); ++i) {
      const NodePtr input = found[next]->input(i);  // a copy: `found` may move while it grows
      see(input);
    }
  std::sort(found.begin(), found.end(), [](const NodePtr& a, const NodePtr& b) { return a->id < b->id; });
  return found;
}

/// Sends one node's gradient to its inputs, then drops all it held. Dropped also when the rule throws.
void run_rule(Node& node) {
  struct Drop {
    Node& node;
    BackwardRule rule;
    Array dy;
    ~Drop() { node.clear_inputs(); }
  };
  const char* const outer = std::exchange(thread_context.op, node.op);
  Drop held{node, std::move(node.backward), node.grad};
  if (!node.retain) node.grad = Array();
  struct Restore {
    const char* op;
    ~Restore() { thread_context.op = op; }
  } restore{outer};
  Grads dx(node, held.dy);
  if (held.dy.defined()) held.rule(held.dy, dx);
  if (settings().debug) std::cerr << "backward " << node.op << " " << node.shape << where(node) << "\n";
}

}  // namespace

void Tensor::backward(const Array& dy) const {
  check_in("backward", node_ != nullptr,
           "nothing this tensor was made from requires a gradient (or it was made under NoGrad, or detached)");
  check_in("backward", dy.defined(), "dy is not defined");
  check_in("backward", dy.shape() == shape(), "dy has shape ", dy.shape(), ", the result ", shape());
  const NoGrad rules_are_not_recorded;
  const Unobserved nor_traced;
  if (node_->leaf) {
    const std::lock_guard lock(leaf_mutex);
    if (!node_->grad.defined())
      node_->grad = dy;
    else
      accumulate(node_->grad, dy);
    return;
  }
  NodeList nodes = collect(node_);
  for (const NodePtr& node : nodes) node->consumed = true;
  node_->grad = dy;
  try {
    for (; !nodes.empty(); nodes.pop_back()) run_rule(*nodes.back());
  } catch (...) {
    for (const NodePtr& node : nodes) node->clear_inputs(), node->backward = BackwardRule(), node->grad = Array();
    throw;
  }
}

Parameter::Cell::Cell(Array v) : value(std::move(v)) {
  node = std::allocate_shared<Node>(CachedAllocator<Node>(), "parameter", value.shape());
  node->leaf = true;
  parameters_alive.fetch_add(1, std::memory_order_relaxed);
}
Parameter::Cell::~Cell() { parameters_alive.fetch_sub(1, std::memory_order_relaxed); }

void Parameter::set(Array value) const {
  value.require();
  check_in("set", value.shape() == shape(), "a parameter of shape ", shape(), " cannot take shape ", value.shape());
  cell_->value = std::move(value);
}
void Parameter::set_grad(Array grad) const {
  check_in("set_grad", grad.shape() == shape(), "a parameter of shape ", shape(), " cannot take a gradient of shape ",
           grad.shape());
  cell_->node->grad = std::move(grad);
}

NodePtr Op::make_node(const Shape& shape) const {
  NodePtr node = std::allocate_shared<Node>(CachedAllocator<Node>(), name_, shape);
  for (std::size_t i = 0; i < count_; ++i) node->add_input(this->node(i));
  if (watching_) node->layer = std::make_unique<std::string>(current_layer());
  return node;
}

void Op::inspect(const Array& value) const {
  std::string shapes;
  for (std::size_t i = 0; i < count_; ++i)
    shapes.append(i ? ", " : "").append(array(i).defined() ? Shape::text(array(i).shape()) : "none");
  if (settings().debug) {
    const std::string layer = current_layer();
    std::cerr << (layer.empty() ? "" : layer + " ") << name_ << "(" << shapes << ") -> " << value.shape() << "\n";
  }
  if (!settings().check_finite) return;
  bool infinite_input = infinity_allowed_;
  for (std::size_t i = 0; i < count_; ++i) {
    if (!array(i).defined()) continue;
    check(!has_nan(array(i)), "input ", i, " already has a NaN: (", shapes, ")");
    infinite_input = infinite_input || has_infinity(array(i));
  }
  check(!has_nan(value), "the result has a NaN: (", shapes, ") -> ", value.shape());
  check(infinite_input || !has_infinity(value), "the result has an infinity: (", shapes, ") -> ", value.shape());
}

}  // namespace mote
