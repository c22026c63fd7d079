// Grads, through which an op's rule adds to the gradients of the op's inputs.
#pragma once

#include <algorithm>

#include "engine/autograd/node.h"

namespace mote {

class LeafSums;

/// The operations of a backward rule on its inputs' gradients.
class Grads {
 public:
  Grads(const Node& node, const Array& dy, LeafSums& leaves, bool watched)
      : node_(node), dy_(dy), leaves_(leaves), watched_(watched) {}
  /// Whether input i is tracked: skip the work if it is not. Errors: an op without input i.
  bool wants(std::size_t i) const { return input(i) != nullptr; }
  /// Adds `grad` to the gradient of input i, summed over the axes that broadcasting stretched. The first gradient is
  /// taken without a copy. Errors: a shape that the input's does not broadcast to; an op without input i.
  void add(std::size_t i, Array grad);
  /// Adds `grad` to positions start, start + step, ... of an axis of input i's gradient: several slices of one tensor
  /// thus share one gradient instead of needing a full-sized array each.
  void add_slice(std::size_t i, int axis, Index start, Index end, Index step, const Array& grad);
  /// Errors: a tracked input, one of the first 64, to which the rule has sent nothing.
  void check_sent() const {
    for (std::size_t i = 0; i < std::min<std::size_t>(node_.input_count(), 64); ++i)
      check(!node_.input(i) || (sent_ >> i & 1) != 0, "the rule sends nothing to input ", i,
            ", which requires a gradient: it must call dx.add(", i, ", ...), if need be with zeros");
  }

 private:
  Node* input(std::size_t i) const {
    check(i < node_.input_count(), "the rule asks for input ", i, ", but the op has ", node_.input_count());
    return node_.input(i).get();
  }
  void mark(std::size_t i) {
    if (i < 64) sent_ |= std::uint64_t(1) << i;
  }
  void tell(std::size_t i, const Array& grad) const;
  Array& sum(std::size_t i);
  const Node& node_;
  const Array& dy_;
  LeafSums& leaves_;
  bool watched_;
  std::uint64_t sent_ = 0;  // a bit per input
};

}  // namespace mote
