// graph_text and count_ops: a recorded graph as lines of text and as counts.
#include <algorithm>
#include <set>
#include <sstream>

#include "engine/watch/graph_text.h"

namespace mote {

std::vector<NodePtr> graph_nodes(const Tensor& result) {
  std::vector<NodePtr> nodes, stack;
  if (result.node()) stack.push_back(result.node());
  std::set<const Node*> seen;
  while (!stack.empty()) {
    const NodePtr node = stack.back();
    stack.pop_back();
    if (!seen.insert(node.get()).second) continue;
    nodes.push_back(node);
    for (std::size_t i = 0; i < node->input_count(); ++i)
      if (node->input(i)) stack.push_back(node->input(i));
  }
  std::sort(nodes.begin(), nodes.end(), [](const NodePtr& a, const NodePtr& b) { return a->id < b->id; });
  return nodes;
}

std::map<std::string, Index> count_ops(const Tensor& result) {
  std::map<std::string, Index> counts;
  for (const NodePtr& node : graph_nodes(result))
    if (!node->leaf) ++counts[node->op];
  return counts;
}

std::string graph_text(const Tensor& result) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  if (!result.node()) return "(no graph: nothing here requires a gradient)\n";
  const std::vector<NodePtr> nodes = graph_nodes(result);
  const auto number = [&](const NodePtr& node) {
    return std::lower_bound(nodes.begin(), nodes.end(), node->id,
                            [](const NodePtr& a, Index id) { return a->id < id; }) -
           nodes.begin() + 1;
  };
  for (const NodePtr& node : nodes) {
    text << "%" << number(node) << " = " << node->op << "(";
    for (std::size_t i = 0; i < node->input_count(); ++i) {
      text << (i ? ", " : "");
      if (node->input(i))
        text << "%" << number(node->input(i));
      else
        text << "constant";
    }
    text << ") " << node->shape << "\n";
  }
  return text.str();
}

}  // namespace mote
