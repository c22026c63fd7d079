// Grads, through which an op's rule sends gradients to the op's inputs; send_back, which runs the rules of a graph.
#pragma once

#include "engine/autograd/node.h"

namespace mote {

class Observer;

/// Runs the backward rules of the graph behind `root`, newest op first. dy is the gradient of `root`. The leaves
/// receive their summed gradients at the end. Tensor::backward() calls this function.
void send_back(const NodePtr& root, const Array& dy);

/// The sums of the gradients that one backward pass sends to each leaf.
class LeafSums;

/// The gradients of an op's inputs, to which the op's backward rule adds.
class Grads {
 public:
  Grads(const Node& node, const Array& dy, LeafSums& leaves, Observer* observer)
      : node_(node), dy_(dy), leaves_(leaves), observer_(observer) {}
  /// Whether input i requires a gradient. If not, the rule need not compute one. Errors: the op has no input i.
  bool wants(std::size_t i) const { return input(i) != nullptr; }
  /// Adds `grad` to the gradient of input i, after summing `grad` over the axes that were broadcast. The first
  /// gradient is stored without a copy. Errors: a shape to which the input's shape does not broadcast; the op has no
  /// input i.
  void add(std::size_t i, Array grad);
  /// Adds `grad` to a slice of input i's gradient: the positions start, start + step, ... before `end` along an axis.
  /// So all slices of one tensor share one gradient, and no slice needs a gradient of the tensor's full size.
  void add_slice(std::size_t i, Integer axis, Integer start, Integer end, Integer step, const Array& grad);
  /// Checks that the rule has sent a gradient to every input that requires one. Inputs after the first 64 are not
  /// checked. Errors: an input to which the rule has sent nothing.
  void check_sent() const;

 private:
  const NodePtr& input(std::size_t i) const {
    check(i < node_.input_count(), "the backward rule asks for input ", i,
          " (counted from 0), but the number of inputs is ", node_.input_count());
    return node_.input(i);
  }
  /// Returns the sum of input i's gradients, to which the caller then adds `grad`. Reports `grad` to the observers.
  Array& sum_for(std::size_t i, const Array& grad);

  const Node& node_;
  const Array& dy_;
  LeafSums& leaves_;
  Observer* observer_;
  std::uint64_t sent_ = 0;  // bit i is 1 once the rule has sent a gradient to input i
};

}  // namespace mote
