// The longer sentences of autograd's errors, away from the code that they interrupt.
#pragma once

#include "engine/autograd/node.h"

namespace mote {

/// For backward() of a tensor without a graph.
[[noreturn]] void fail_untracked();
/// For backward() over a node that an earlier one has consumed.
[[noreturn]] void fail_consumed(const Node& node);
/// For grad() of a result that keeps none.
[[noreturn]] void fail_no_gradient(const Node& node);

}  // namespace mote
