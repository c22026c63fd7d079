// A picture of a graph: its steps, folded if there are many, as boxes and arrows.
#include "engine/watch/graph_picture.h"

#include <algorithm>
#include <set>

#include "engine/base/number_text.h"
#include "engine/base/table.h"
#include "engine/watch/graph_text.h"

namespace mote {
namespace {

using Steps = std::map<Index, detail::GraphStep>;

/// The numbers of x as text, one line for each row of x. Empty if x has more than 12 numbers.
std::vector<std::string> value_lines(const char* what, const Array& x) {
  if (!x.defined() || x.numel() > 12) return {};
  std::vector<std::string> lines;
  std::size_t i = 0;
  const std::size_t row = x.rank() ? static_cast<std::size_t>(x.shape()[-1]) : 1;
  for (const real value : x.to_vector()) {
    const std::string number = general_text(static_cast<double>(value), 4);
    if (i++ % row == 0) lines.push_back(lines.empty() ? what : "     ");
    lines.back() += std::string(number.size() < 11 ? 11 - number.size() : 1, ' ') + number;
  }
  return lines;
}

detail::GraphStep step_of(const Node& node) {
  const Notes* const notes = notes_of(node);
  return {node.op, notes ? notes->layer : "", node.shape};
}

Steps steps_of(const std::vector<NodePtr>& nodes) {
  Steps steps;
  for (const NodePtr& node : nodes) {
    detail::GraphStep& step = steps[node->id] = step_of(*node);
    if (node->leaf) step.leaf = node;
    for (std::size_t i = 0; i < node->input_count(); ++i)
      if (node->input(i)) step.inputs.push_back(node->input(i)->id);
  }
  return steps;
}

/// The steps that `end` was made from, with `end` itself.
Steps behind(const Node& end, const Steps& all) {
  Steps steps;
  std::set<Index> needed{end.id};
  for (auto step = all.rbegin(); step != all.rend(); ++step)  // newest first, because inputs are older
    if (needed.count(step->first)) {
      needed.insert(step->second.inputs.begin(), step->second.inputs.end());
      steps.insert(*step);
    }
  return steps;
}

/// The first `depth` names of a layer's path, such as "h.0" of "h.0.attn" for a depth of 2. "" if the path has fewer.
std::string outer(std::string layer, std::ptrdiff_t depth) {
  std::ptrdiff_t names = layer.empty() ? 0 : 1 + std::count(layer.begin(), layer.end(), '.');
  if (names < depth) return "";
  for (; names > depth; --names) layer.resize(layer.rfind('.'));
  return layer;
}

/// Folds steps into boxes, and returns for each step the first step of its box. Successive steps share a box if the
/// first `depth` names of their layers' paths are equal. Since only successive steps share a box, no arrow goes from a
/// later box to an earlier one. A leaf that only one box needs is in that box. Constants are left out.
std::map<Index, Index> folded(const Steps& steps, int depth) {
  std::map<Index, Index> box;
  std::map<Index, std::set<Index>> needed_in;
  std::string before;
  Index first = 0;
  for (const auto& [id, step] : steps) {
    if (step.inputs.empty()) continue;
    const std::string layer = outer(step.layer, depth);
    if (layer.empty() || layer != before) first = id;
    before = layer;
    box[id] = first;
    for (const Index input : step.inputs) needed_in[input].insert(first);
  }
  for (const auto& [id, step] : steps)
    if (step.inputs.empty() && id >= 0) box[id] = needed_in[id].size() == 1 ? *needed_in[id].begin() : -id;
  return box;
}

/// The steps of each box. In a graph of up to 40 steps each step has its own box. A larger graph is folded at the
/// deepest level of layers that gives at most 24 boxes.
std::map<Index, std::vector<Index>> boxes_of(const Steps& steps) {
  std::map<Index, std::vector<Index>> boxes;
  for (const auto& [id, step] : steps) boxes[id] = {id};
  for (int depth = 8; steps.size() > 40 && boxes.size() > 24 && depth > 0; --depth) {
    boxes.clear();
    for (const auto& [id, first] : folded(steps, depth)) boxes[first].push_back(id);
  }
  return boxes;
}

/// Makes the box of the steps `ids`. The last step gives the box its shape. The box of a single step shows all that is
/// known about the step.
DiagramBox box_of(const Steps& steps, const std::vector<Index>& ids, const std::string& name) {
  const detail::GraphStep& last = steps.at(ids.back());
  std::string layer = last.layer;
  Index parameters = 0, kept = 0, ops = 0;
  for (const Index id : ids) {
    const detail::GraphStep& step = steps.at(id);
    kept += step.kept_bytes;
    if (step.leaf) parameters += step.shape.numel();
    if (step.inputs.empty()) continue;
    ++ops;
    // cuts `layer` to the part of the path that the layers of all ops share
    while (!(step.layer + ".").starts_with(layer + ".") && !layer.empty())
      layer.resize(std::max(layer.rfind('.') + 1, std::size_t(1)) - 1);
  }
  const std::string what = ops > 1 ? grouped(ops) + " ops" : last.op;
  DiagramBox box{{layer.empty() ? what : layer + ": " + what, text_of(last.shape)}, ops > 1 ? "#e8def5" : "#dbe7f6"};
  if (!name.empty()) box.lines[0] = ops ? name + " = " + what : name;
  if (ids.size() > 1) {
    if (parameters) box.lines.push_back(grouped(parameters) + " parameters");
  } else {
    if (!ops) box.colour = last.leaf ? "#d8efd2" : "#eeeeee";
    box.lines.insert(box.lines.end(), last.value.begin(), last.value.end());
    for (const std::string& line : last.leaf ? value_lines("grad ", last.leaf->grad) : last.gradient)
      box.lines.push_back(line);
  }
  if (kept) box.lines.push_back("keeps " + grouped(kept) + " bytes");
  return box;
}

}  // namespace

void GraphRecorder::event(const Event& e) {
  if (e.kind == Event::op_recorded && e.node) record(e);
  if (e.kind != Event::rule_opened) return;
  if (const auto step = steps_.find(e.node->id); step != steps_.end())
    step->second.gradient = value_lines("grad ", *e.dy);
}

void GraphRecorder::record(const Event& e) {
  if (steps_.count(e.node->id)) return;  // the result of an op made of other ops has the node of an op seen before
  note_layer(*e.node);
  detail::GraphStep step = step_of(*e.node);
  step.kept_bytes = e.kept_bytes();
  step.value = value_lines("value", *e.result);
  const std::vector<const Array*> inputs = e.op->inputs();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const Array& x = *inputs[i];
    if (!x.defined()) continue;
    const NodePtr& node = e.node->input(i);
    step.inputs.push_back(node ? node->id : -1 - static_cast<Index>(steps_.size()));
    if (!node)
      steps_[step.inputs.back()] = {"constant", "", x.shape()};
    else if (!steps_.count(node->id))
      steps_.merge(steps_of(graph_nodes(Tensor(x, node))));  // a leaf, or an op recorded before this recorder began
    steps_.at(step.inputs.back()).value = value_lines("value", x);
  }
  steps_[e.node->id] = std::move(step);
}

Diagram graph_diagram(const Tensor& result, const GraphRecorder* seen) {
  check_in("graph_svg", result.requires_grad(),
           "the result has no graph: nothing that it was computed from requires a gradient");
  const Node& end = *result.node();
  Steps all = seen ? seen->steps_ : Steps();
  check_in("graph_svg", !end.consumed || (all.count(end.id) && !all.at(end.id).inputs.empty()),
           "backward() has consumed this graph: draw it before, or let a GraphRecorder see its ops");
  if (!end.consumed) all.merge(steps_of(graph_nodes(result)));  // the steps that `seen` has not recorded
  const Steps steps = behind(end, all);
  const std::map<Index, std::vector<Index>> boxes = boxes_of(steps);
  check_in("graph_svg", boxes.size() <= 400, "the picture would have ", boxes.size(),
           " boxes, above the limit of 400: call the parts as layers, which a GraphRecorder folds");

  Diagram diagram;
  std::map<Index, std::size_t> box;  // the position of each step's box
  for (const auto& [first, ids] : boxes) {
    for (const Index id : ids) box[id] = diagram.boxes.size();
    const bool named = seen && seen->names_.count(ids.back());
    diagram.boxes.push_back(box_of(steps, ids, named ? seen->names_.at(ids.back()) : ""));
  }
  diagram.boxes.back().colour = "#fde3c8";
  std::set<std::pair<std::size_t, std::size_t>> drawn;
  for (const auto& [id, to] : box)
    for (const Index input : steps.at(id).inputs)
      if (const auto from = box.find(input); from != box.end() && from->second != to)
        if (drawn.emplace(from->second, to).second || boxes.size() == steps.size())
          diagram.arrows.emplace_back(from->second, to);
  diagram.notes = {grouped(static_cast<Index>(steps.size())) + " steps to a result of shape " + text_of(end.shape),
                   "green: leaves, whose gradients add up; grey: constants; orange: the result"};
  if (boxes.size() < steps.size()) diagram.notes.push_back("violet: several ops with all that only they need");
  if (!seen)
    diagram.notes.push_back("no values: no GraphRecorder has seen the ops");
  else if (!end.consumed)
    diagram.notes.push_back("no gradients yet: backward() has not run");
  return diagram;
}

}  // namespace mote
