// What is here: Tensor and Parameter, the recording of ops (Op, Grads), backward, NoGrad.
// What is not: any particular op (ops/), layers (nn/).
// Read next: ops/arithmetic.h for the first ops, graph.cpp for backward itself.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "engine/array.h"
#include "engine/env.h"
#include "engine/node.h"
#include "engine/observer.h"

namespace mote {

/// What a backward rule may do with its inputs' gradients.
class Grads {
 public:
  explicit Grads(const Node& node, const Array& dy) : node_(node), dy_(dy) {}
  /// Whether input i is tracked: skip the work when it is not. Errors: an i that the op was not given.
  bool wants(std::size_t i) const { return input(i) != nullptr; }
  /// Adds `grad` to the gradient of input i, summed over the axes that broadcasting stretched. The first gradient is
  /// taken over as it is. Errors: a shape that is no broadcast of the input's; an i that the op was not given.
  void add(std::size_t i, Array grad);
  /// Adds `grad` to positions start, start + step, ... of an axis of input i's gradient: several slices of one tensor
  /// then share one gradient instead of a full-sized array each.
  void add_slice(std::size_t i, int axis, Index start, Index end, Index step, const Array& grad);

 private:
  Node* input(std::size_t i) const {
    check(i < node_.input_count(), "the rule asks for input ", i, ", but the op has ", node_.input_count());
    return node_.input(i).get();
  }
  void inspect(std::size_t i, const Array& grad) const;
  const Node& node_;
  const Array& dy_;
};

/// An array that remembers where it came from. Copying shares both. Without a tracked input it is just the array.
class Tensor {
 public:
  Tensor() = default;
  Tensor(Array value) : value_(std::move(value)) {}
  Tensor(Array value, NodePtr node) : value_(std::move(value)), node_(std::move(node)) {}
  /// One number, rank 0.
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  Tensor(Number value) : value_(static_cast<real>(value)) {}

  bool defined() const { return value_.defined(); }
  const Array& array() const { return value_; }
  const Shape& shape() const { return value_.shape(); }
  Index size(int axis) const { return value_.shape()[axis]; }
  int dim() const { return value_.rank(); }
  Index numel() const { return value_.numel(); }
  real item() const { return value_.item(); }
  std::vector<real> to_vector() const { return value_.to_vector(); }

  /// Whether gradients flow to this tensor.
  bool requires_grad() const { return node_ != nullptr; }
  /// Makes this tensor a leaf whose gradient backward() keeps (or, with false, a plain one again). Copies made before
  /// are not affected. Errors: it is the result of recorded ops; detach() it first.
  Tensor& requires_grad_(bool on = true) &;
  Tensor requires_grad_(bool on = true) && { return requires_grad_(on); }
  /// The gradient that backward() left here, an undefined Array before. Kept for leaves, and for results after
  /// retain_grad(). Gradients of several backward() calls add up until zero_grad().
  const Array& grad() const;
  void zero_grad();
  /// Asks backward() to keep the gradient of this intermediate result. Errors: it is not tracked.
  void retain_grad();
  /// The same numbers without a past.
  Tensor detach() const { return Tensor(value_); }

  /// d(this)/d(leaf) for every leaf this was made from, added to the leaves' grad(). The recorded graph is consumed:
  /// each node's rule, inputs and gradient are dropped as soon as they are used. Errors: not tracked; more than one
  /// element (pass dy, of this shape); a graph that an earlier backward consumed.
  void backward() const;
  void backward(const Array& dy) const;

  const NodePtr& node() const { return node_; }

 private:
  Array value_;
  NodePtr node_;
};

/// A trainable array: a handle to one cell {value, grad, trainable}. Copies of the handle are the same parameter, so a
/// module may move, and ties and optimizers share the cell. In an op it stands for its value.
class Parameter {
 public:
  struct Cell {
    Array value;
    NodePtr node;
    bool trainable = true;
    Cell(Array v);
    ~Cell();
  };

  Parameter() = default;
  explicit Parameter(Array value) : cell_(std::make_shared<Cell>(std::move(value))) {}

  /// A Parameter that is not defined, such as the bias of a Linear without one, gives an undefined Tensor.
  operator Tensor() const { return cell_ ? Tensor(cell_->value, node()) : Tensor(); }
  bool defined() const { return cell_ != nullptr; }
  const Array& value() const { return cell().value; }
  const Array& array() const { return cell().value; }
  const Shape& shape() const { return cell().value.shape(); }
  Index numel() const { return cell().value.numel(); }
  /// The leaf that gradients arrive at; null while frozen.
  const NodePtr& node() const {
    static const NodePtr none;
    return cell_ && cell_->trainable ? cell_->node : none;
  }
  /// Replaces the numbers. A graph recorded before keeps the old ones. Errors: another shape.
  void set(Array value) const;
  /// Where an optimizer writes: the numbers, copied first if anything else (a live graph, a saved copy) still holds
  /// them.
  real* mutate() const { return cell().value.mutate(); }
  const Array& grad() const { return cell().node->grad; }
  void set_grad(Array grad) const;
  void zero_grad() const { cell().node->grad = Array(); }
  /// A frozen parameter takes part in ops as a constant: no gradient, no optimizer step.
  bool trainable() const { return cell().trainable; }
  void set_trainable(bool on) const { cell().trainable = on; }
  /// Two handles to one cell.
  bool same_as(const Parameter& other) const { return cell_ == other.cell_; }
  const Cell* id() const { return cell_.get(); }

 private:
  Cell& cell() const {
    check_in("parameter", cell_ != nullptr, "this parameter is not defined (a bias that its layer does not have?)");
    return *cell_;
  }
  std::shared_ptr<Cell> cell_;
};

/// Parameters alive in this process; tests find with it a field that a module's visit() forgot.
Index live_parameters();

/// While one lives, this thread records nothing: results are plain arrays. Nests; says nothing about dropout. It needs
/// a name, const NoGrad no_grad; without one it ends at once.
class NoGrad {
 public:
  [[nodiscard]] NoGrad() : before_(std::exchange(active_, true)) {}
  ~NoGrad() { active_ = before_; }
  NoGrad(const NoGrad&) = delete;
  static bool active() { return active_; }

 private:
  static inline constinit thread_local bool active_ = false;
  bool before_;
};

/// Opens every op: gives errors its name, and record() its inputs: Tensors, Parameters, or lists of Tensors. Inputs
/// must outlive the Op, as a function's own arguments and a layer's own fields do. Undefined ones count as not given.
class Op {
 public:
  template <class... Inputs>
  explicit Op(const char* name, Inputs&&... inputs) : Op(name) {
    static_assert((std::is_lvalue_reference_v<Inputs> && ...),
                  "an Op's inputs must outlive it: give each a name first");
    (add(inputs), ...);
  }
  explicit Op(const char* name) : outer_(std::exchange(place::op, name)), name_(name) {
    if (place::observer) [[unlikely]]
      tell_opened();
  }
  ~Op() {
    place::op = outer_;
    if (place::observer) [[unlikely]]
      place::observer->op_closed(*this);
  }
  Op(const Op&) = delete;

  /// The result as a Tensor. `backward` is kept only when an input is tracked and gradients are on.
  template <class Backward>
  Tensor record(Array value, Backward&& backward) {
    if (watching_) inspect(value);
    if (place::observer) [[unlikely]]
      tell_recorded(value);
    if (!tracked()) return Tensor(std::move(value));
    NodePtr node = make_node(value.shape());
    node->backward = BackwardRule(std::forward<Backward>(backward));
    return Tensor(std::move(value), std::move(node));
  }
  /// Tells MOTE_CHECK=finite that this op makes infinities on purpose (masked_fill).
  void allow_infinity() { infinity_allowed_ = true; }

  // What an op may tell a trace, before record().
  const char* name() const { return name_; }
  /// Whether somebody listens: only then is it worth working out what to tell.
  bool observed() const { return place::observer != nullptr; }
  /// Its work in floating-point operations, a multiply-add being two. Not told: see nn/trace.h.
  void flops(Index count) const {
    if (place::observer) [[unlikely]]
      place::observer->op_flops(*this, count);
  }
  /// The shape of something that is neither an input nor the result: attention's weights.
  void note(const char* what, const Shape& shape) const {
    if (place::observer) [[unlikely]]
      place::observer->op_noted(*this, what, shape);
  }

 private:
  struct Input {
    const Array* array;
    const NodePtr* node;
  };
  void add(Input input) {
    if (count_ < few)
      first_[count_] = input;
    else
      rest_.push_back(input);
    ++count_;
  }
  void add(const Tensor& t) { add(Input{&t.array(), &t.node()}); }
  void add(const Parameter& p) {
    static const Array none;
    add(Input{p.defined() ? &p.array() : &none, &p.node()});
  }
  void add(std::span<const Tensor> inputs) {
    for (const Tensor& t : inputs) add(t);
  }
  void add(const std::vector<Tensor>& inputs) { add(std::span<const Tensor>(inputs)); }
  const Array& array(std::size_t i) const { return *(i < few ? first_[i] : rest_[i - few]).array; }
  const NodePtr& node(std::size_t i) const { return *(i < few ? first_[i] : rest_[i - few]).node; }
  bool tracked() const {
    if (NoGrad::active()) return false;
    for (std::size_t i = 0; i < count_; ++i)
      if (node(i)) return true;
    return false;
  }
  NodePtr make_node(const Shape& shape) const;
  void inspect(const Array& value) const;  // MOTE_DEBUG and MOTE_CHECK
  void tell_opened();
  void tell_recorded(const Array& value) const;

  static constexpr std::size_t few = 4;
  const char* outer_;
  const char* name_;
  bool watching_ = settings().debug || settings().check_finite;
  bool infinity_allowed_ = false;
  std::size_t count_ = 0;
  std::array<Input, few> first_;
  std::vector<Input> rest_;
};

/// The recorded graph behind `result` as text, one line per node in the order of recording: "%3 = mul(%1, %2) [2, 3]".
std::string graph_text(const Tensor& result);
/// How many ops of each name that graph has, leaves left out: {"linear": 3, "softmax": 1}.
std::map<std::string, Index> count_ops(const Tensor& result);

}  // namespace mote
