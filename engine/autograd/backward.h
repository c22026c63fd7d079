// Grads, through which an op's rule sends gradients to the op's inputs; send_back, which runs the rules of a graph.
#pragma once

#include "engine/autograd/node.h"

namespace mote {

class Observer;

/// Tensor::backward: newest op first; the leaves receive their sums last.
void send_back(const NodePtr& root, const Array& dy);

/// What one backward sends to the leaves behind it.
class LeafSums;

/// The operations of a backward rule on its inputs' gradients.
class Grads {
 public:
  Grads(const Node& node, const Array& dy, LeafSums& leaves, Observer* observer)
      : node_(node), dy_(dy), leaves_(leaves), observer_(observer) {}
  /// Whether input i is tracked: skip the work if it is not. Errors: an op without input i.
  bool wants(std::size_t i) const { return input(i) != nullptr; }
  /// Adds `grad` to the gradient of input i, summed over the axes that broadcasting stretched. The first gradient is
  /// taken without a copy. Errors: a shape that the input's does not broadcast to; an op without input i.
  void add(std::size_t i, Array grad);
  /// Adds `grad` to positions start, start + step, ... of an axis of input i's gradient: several slices of one tensor
  /// thus share one gradient instead of needing a full-sized array each.
  void add_slice(std::size_t i, Integer axis, Integer start, Integer end, Integer step, const Array& grad);
  /// Errors: a tracked input, one of the first 64, to which the rule has sent nothing.
  void check_sent() const;

 private:
  const NodePtr& input(std::size_t i) const {
    check(i < node_.input_count(), "the rule asks for input ", i, ", but the op has ", node_.input_count());
    return node_.input(i);
  }
  /// Where input i's gradient is summed, now that `grad` will be added to it.
  Array& sum_for(std::size_t i, const Array& grad);

  const Node& node_;
  const Array& dy_;
  LeafSums& leaves_;
  Observer* observer_;
  std::uint64_t sent_ = 0;  // a bit per input
};

}  // namespace mote
