// graph_text and count_ops: a recorded graph as lines of text and as counts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "engine/autograd/tensor.h"

namespace mote {

/// The recorded graph behind `result` as text, one line per node in the order of recording: "%3 = mul(%1, %2) [2, 3]".
std::string graph_text(const Tensor& result);
/// Counts the ops in the graph of `result` by name, without leaves: {"linear": 3, "softmax": 1}.
std::map<std::string, Index> count_ops(const Tensor& result);
/// The nodes of the graph of `result`, leaves included, each once, in the order of recording.
std::vector<NodePtr> graph_nodes(const Tensor& result);

}  // namespace mote
