// Finds modules and parameters that are used inside a layer but that the outermost layer's fields do not include.
#include "nn/check_fields.h"

#include <algorithm>
#include <string_view>

namespace mote {
namespace {

const Module& module_of(const LayerScope& scope) { return *static_cast<const Module*>(scope.layer); }

/// Whether a module has buffers or random streams but no parameter. A module with parameters needs no such test,
/// because it is found when an op uses its parameters.
bool has_state_only(const Module& m) {
  bool parameter = false, state = false;
  each_field(m, [&](const ModuleField& f) {
    parameter = parameter || f.parameter;
    state = state || f.buffer || f.stream;
  });
  return state && !parameter;
}

}  // namespace

/// The entry of found_ for a child that `layer` calls but does not list in its visit(). The entry's sentence is, for
/// example, "visit() of GatedMlp does not list the Linear that it calls". A layer inside a model is named with its
/// path, as in "visit() of Block (h.0)". If `child` is null, the sentence is about a parameter of the layer's own.
FieldWatch::Found& FieldWatch::forgotten(const LayerScope& layer, const LayerScope* child) {
  const std::string type = module_of(layer).type_name();
  const std::string what =
      "visit() of " + (layer.outer ? type + " (" + layer.path(layer) + ")" : type) + " does not list " +
      (child ? "the " + module_of(*child).type_name() + " that it calls" : "a parameter that it uses");
  const auto same = std::find_if(found_.begin(), found_.end(), [&](const Found& f) { return f.what == what; });
  return same != found_.end() ? *same : found_.emplace_back(Found{what, {}});
}

void FieldWatch::event(const Event& e) {
  if (e.kind == Event::layer_opened) look_at(*e.layer);
  if (e.kind == Event::op_recorded && e.node) look_at(*e.node);
}

void FieldWatch::look_at(const LayerScope& scope) {
  if (!scope.outer) {
    listed_ = {scope.layer};
    return each_field(module_of(scope), [this](const ModuleField& f) {
      if (f.child) listed_.insert(f.child);
      if (f.parameter) listed_.insert(f.parameter->node().get());
    });
  }
  if (listed_.contains(scope.layer) || !listed_.contains(scope.outer->layer)) return;
  if (has_state_only(module_of(scope))) forgotten(*scope.outer, &scope);
}

void FieldWatch::look_at(const Node& recorded) {
  const LayerScope* const innermost = thread_context.layer;
  for (std::size_t i = 0; i < recorded.input_count(); ++i) {
    const NodePtr& node = recorded.input(i);
    if (!node || !node->leaf || std::string_view(node->op) != "parameter") continue;
    used_.insert(node);
    if (!innermost || listed_.contains(node.get())) continue;
    listed_.insert(node.get());         // so that the parameter is reported only once
    const LayerScope* child = nullptr;  // the outermost module that is not listed
    for (const LayerScope* s = innermost; s; s = s->outer)
      if (!listed_.contains(s->layer)) child = s;
    forgotten(child && child->outer ? *child->outer : *innermost, child).parameters.push_back(node);
  }
}

std::string FieldWatch::problem(const std::function<bool(const Node&)>& fine) const {
  std::string text;
  bool trains = false, modes = false;
  for (const Found& f : found_) {
    std::string shapes;
    for (const NodePtr& p : f.parameters)
      if (!fine || !fine(*p)) shapes += (shapes.empty() ? ", of shape " : ", ") + text_of(p->shape);
    if (shapes.empty() && !f.parameters.empty()) continue;
    (f.parameters.empty() ? modes : trains) = true;
    text += (text.empty() ? "" : "; ") + f.what + shapes;
  }
  if (text.empty()) return text;
  text += trains && modes ? ": no optimizer would train the parameters, and eval() would not reach the modules"
          : trains        ? ": no optimizer would train it"
                          : ": eval() would not reach it";
  return text + (trains ? "; list every field in visit(), or freeze what is not to be trained"
                        : "; list every field in visit()");
}

void check_fields(const std::function<void()>& run) {
  check_in("check_fields", !NoGrad::active(),
           "NoGrad is active, and under it no op is recorded: call check_fields without it");
  const FieldWatch watch;
  run();
  const std::string problem = watch.problem();
  check_in("check_fields", problem.empty(), problem);
}

}  // namespace mote
