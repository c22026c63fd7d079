// Which modules and parameters are used inside a layer but not listed by the outermost one.
#include "nn/check_fields.h"

#include <algorithm>
#include <string_view>

namespace mote {
namespace {

const Module& module_of(const LayerScope& scope) { return *static_cast<const Module*>(scope.layer); }

/// "GatedMlp", or "Block (h.0)" inside a model.
std::string layer_name(const LayerScope& scope) {
  const std::string type = module_of(scope).type_name();
  return scope.outer ? type + " (" + scope.path(scope) + ")" : type;
}

/// Whether a module's own list has what train() and eval(), or clone(), must reach, and no parameter.
bool has_state_only(const Module& m) {
  struct Look : Reader {
    bool parameter = false, state = false;
    void on_parameter(const Parameter&) override { parameter = true; }
    void on_buffer(const Array&) override { state = true; }
    void on_stream(const Generator&) override { state = true; }
  } look;
  m.read(look);
  return look.state && !look.parameter;
}

}  // namespace

void FieldWatch::read(const Module& root) {
  struct List : Reader {
    explicit List(std::set<const void*>& l) : list(l) {}
    void on_enter(const Module& m) override { list.insert(&m); }
    void on_parameter(const Parameter& p) override { list.insert(p.node().get()); }
    std::set<const void*>& list;
  };
  listed_ = {&root};
  List list(listed_);
  root.read(list);
}

void FieldWatch::layer_opened(const LayerScope& scope) {
  if (!scope.outer) return read(module_of(scope));
  if (listed_.contains(scope.layer) || !listed_.contains(scope.outer->layer)) return;
  const Module& child = module_of(scope);
  if (has_state_only(child)) found_.push_back({layer_name(*scope.outer), child.type_name(), nullptr});
}

void FieldWatch::op_recorded(const OpReport& op) {
  const LayerScope* const innermost = thread_context.layer;
  if (!op.node) return;
  for (std::size_t i = 0; i < op.node->input_count(); ++i) {
    const NodePtr& node = op.node->input(i);
    if (!node || !node->leaf || std::string_view(node->op) != "parameter") continue;
    used_.insert(node);
    if (!innermost || listed_.contains(node.get())) continue;
    listed_.insert(node.get());         // once is enough
    const LayerScope* child = nullptr;  // the outermost module that is not listed
    for (const LayerScope* s = innermost; s; s = s->outer)
      if (!listed_.contains(s->layer)) child = s;
    const LayerScope& layer = child && child->outer ? *child->outer : *innermost;
    found_.push_back({layer_name(layer), child ? module_of(*child).type_name() : "", node});
  }
}

std::string FieldWatch::problem(const std::function<bool(const Node&)>& fine) const {
  std::vector<std::pair<std::string, std::string>> sentences;  // what is forgotten, the shapes of its parameters
  bool trains = false, modes = false;
  for (const Found& f : found_) {
    if (f.parameter && fine && fine(*f.parameter)) continue;
    (f.parameter ? trains : modes) = true;
    const std::string what = "visit() of " + f.layer + " does not list " +
                             (f.child.empty() ? "a parameter that it uses" : "the " + f.child + " that it calls");
    auto at = std::find_if(sentences.begin(), sentences.end(), [&](const auto& s) { return s.first == what; });
    if (at == sentences.end()) at = sentences.insert(at, {what, ""});
    if (f.parameter) at->second += (at->second.empty() ? ", of shape " : ", ") + text_of(f.parameter->shape);
  }
  std::string text;
  for (const auto& [what, shapes] : sentences) text += (text.empty() ? "" : "; ") + what + shapes;
  if (text.empty()) return text;
  text += trains && modes ? ": no optimizer would train the parameters, and eval() would not reach the modules"
          : trains        ? ": no optimizer would train it"
                          : ": eval() would not reach it";
  return text + (trains ? "; list every field in visit(), or freeze what is not to be trained"
                        : "; list every field in visit()");
}

void check_fields(const std::function<void()>& run) {
  check_in("check_fields", !NoGrad::active(), "nothing is recorded under NoGrad");
  const FieldWatch watch;
  run();
  const std::string problem = watch.problem();
  check_in("check_fields", problem.empty(), problem);
}

}  // namespace mote
