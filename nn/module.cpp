// The functions of Module and Visitor, and those that act on all fields of a module.
#include "nn/module.h"

#include <cxxabi.h>

#include <algorithm>
#include <map>
#include <set>
#include <typeinfo>

#include "nn/evaluation.h"

namespace mote {

Visitor::Name::Name(Visitor& v, const std::string& name) : visitor(v), length(v.path_.size()) {
  check_in("visit", !name.empty() && name.find('.') == std::string::npos, "'", name,
           "' is not a field's name: it must not be empty or contain a dot");
  if (length) v.path_ += '.';
  v.path_ += name;
}

void Visitor::operator()(const std::string& name, Parameter& parameter) {
  const Name here(*this, name);
  if (parameter.defined()) see_({path_, owner_, &parameter});  // not defined: the bias of a layer without a bias
}
void Visitor::operator()(const std::string& name, Module& child) {
  child.require_kept();  // otherwise a moved-from child's fields would silently be missing in files
  const Name here(*this, name);
  see_({.path = path_, .owner = owner_, .child = &child});
  Module* const outer = std::exchange(owner_, &child);
  child.visit(*this);
  owner_ = outer;
}
void Visitor::buffer(const std::string& name, Array& array) {
  const Name here(*this, name);
  if (array.defined()) see_({.path = path_, .owner = owner_, .buffer = &array});
}
void Visitor::stream(const std::string& name, Generator& random) {
  const Name here(*this, name);
  see_({.path = path_, .owner = owner_, .stream = &random});
}

void each_field(const Module& module, const std::function<void(const ModuleField&)>& see) {
  module.require_kept();
  Module& outermost = const_cast<Module&>(module);  // visit() lists fields without changing them
  Visitor visitor(outermost, see);
  outermost.visit(visitor);
}

Module::Module(const Module& other) : trains_(other.trains_.load()) {
  other.require_kept();
  check_in("copy", Cloning::depth > 0, "this ", other.type_name(),
           " was passed or assigned by value, and its copy would ",
           "share its parameters: write m.clone() for an independent one, std::move(m) to hand it over, or pass a "
           "reference");
}

void Module::own_cells(Module& copy) {
  std::map<const Parameter::Cell*, Parameter> fresh;
  each_field(copy, [&](const ModuleField& f) {
    if (!f.parameter) return;
    Parameter& p = *f.parameter;
    auto [place, added] = fresh.try_emplace(p.id());
    if (added) {
      place->second = Parameter(copy_of(p.value()));
      place->second.set_trainable(p.trainable());
      fresh[place->second.id()] = place->second;  // if visit() lists p twice, p has its new cell the second time
    }
    p = fresh[p.id()];
  });
}

std::vector<Module*> detail::modules_of(Module& module) {
  std::vector<Module*> list{&module};
  each_field(module, [&](const ModuleField& f) {
    if (f.child) list.push_back(f.child);
  });
  return list;
}

void Module::train(Flag on) {
  for (Module* m : detail::modules_of(*this))  // the whole list is made first: if that fails, no mode has changed
    m->trains_ = on;
}

void Module::require_kept() const {
  if (!moved_from_) return;
  check_in("layer", false, "this ", type_name(), " was moved from: use the one that it was moved to");
}

std::vector<NamedModule> named_modules(const Module& module) {
  std::vector<NamedModule> all{{"", &module}};
  each_field(module, [&](const ModuleField& f) {
    if (f.child) all.push_back({f.path, f.child});
  });
  return all;
}

/// The path of `wanted` inside `outer`, or "" if visit() lists no such module.
static std::string path_within(const Module& outer, const Module& wanted) {
  std::string found;
  each_field(outer, [&](const ModuleField& f) {
    if (f.child == &wanted && found.empty()) found = f.path;
  });
  return found;
}

bool Module::training() const {
  if (!trains_) return false;
  if (evaluations_ > 0) {
    if (Evaluation::open_ == 0)
      check_in("training", false, "another thread keeps this ", type_name(),
               " in evaluation mode (generate, Evaluation): call eval() before threads share it, and train it alone");
    return false;
  }
  for (const LayerScope* scope = thread_context.layer; scope; scope = scope->outer) {
    const Module& around = *static_cast<const Module*>(scope->layer);
    if (&around == this || (around.trains_ && around.evaluations_ == 0)) continue;
    check_in("eval", !path_within(around, *this).empty(), "visit() of ", around.type_name(), " does not list the ",
             type_name(), " that it calls, which therefore stays in training mode");
  }
  return true;
}

std::string Module::type_name() const {
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> readable(
      abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status), std::free);
  std::string name = status == 0 ? readable.get() : typeid(*this).name();
  const std::size_t template_start = name.find('<');
  const std::size_t colons = name.rfind("::", template_start);
  return colons == std::string::npos ? name : name.substr(colons + 2);
}

std::string detail::layer_type(const LayerScope& innermost) {
  return static_cast<const Module*>(innermost.layer)->type_name();
}

std::string detail::layer_path(const LayerScope& innermost) {
  std::vector<const Module*> stack;  // innermost first
  for (const LayerScope* scope = &innermost; scope; scope = scope->outer)
    stack.push_back(static_cast<const Module*>(scope->layer));
  const Module* outer = stack.back();
  std::string path;
  for (auto inner = stack.rbegin() + 1; inner != stack.rend(); ++inner) {
    const std::string found = path_within(*outer, **inner);
    if (!path.empty()) path += '.';
    path += found.empty() ? (*inner)->type_name() : found;
    outer = *inner;
  }
  return path.empty() ? outer->type_name() : path;
}

/// Calls f for every field that is not a module. Errors: two fields with the same name, because names are the keys of
/// a state.
static void each_named(const Module& module, const std::function<void(const ModuleField&)>& f) {
  std::set<std::string> seen;
  each_field(module, [&](const ModuleField& field) {
    if (field.child) return;
    check_in("visit", seen.insert(field.path).second, "two fields are named '", field.path,
             "': each needs a name of its own");
    f(field);
  });
}

std::vector<NamedParameter> named_parameters(const Module& module, Flag ties) {
  std::vector<NamedParameter> list;
  std::set<const Parameter::Cell*> seen;
  each_named(module, [&](const ModuleField& f) {
    if (f.parameter && (seen.insert(f.parameter->id()).second || ties)) list.push_back({f.path, *f.parameter});
  });
  return list;
}

std::vector<Parameter> parameters(const Module& module) {
  std::vector<Parameter> list;
  for (NamedParameter& p : named_parameters(module)) list.push_back(std::move(p.parameter));
  return list;
}

std::vector<NamedConstBuffer> named_buffers(const Module& module) {
  std::vector<NamedConstBuffer> list;
  for (const NamedBuffer& b : named_buffers(const_cast<Module&>(module))) list.push_back({b.name, b.array});
  return list;
}

std::vector<NamedBuffer> named_buffers(Module& module) {
  std::vector<NamedBuffer> list;
  each_named(module, [&](const ModuleField& f) {
    if (f.buffer) list.push_back({f.path, f.buffer});
  });
  return list;
}

std::vector<NamedStream> named_streams(const Module& module, Flag ties) {
  std::vector<NamedStream> list;
  each_named(module, [&](const ModuleField& f) {
    if (!f.stream) return;
    const auto same = [&](const NamedStream& s) { return s.stream.same_as(*f.stream); };
    if (ties || std::none_of(list.begin(), list.end(), same)) list.push_back({f.path, *f.stream});
  });
  return list;
}

Index parameter_count(const Module& module) {
  Index n = 0;
  for (const Parameter& p : parameters(module)) n += p.numel();
  return n;
}

void zero_grad(const Module& module) {
  for (const Parameter& p : parameters(module)) p.zero_grad();
}

void set_trainable(Module& module, Flag on) {
  for (const Parameter& p : parameters(module)) p.set_trainable(on);
}

void apply(Module& module, const std::function<void(Module&)>& f) {
  each_field(module, [&](const ModuleField& field) {
    if (field.child && field.owner == &module) apply(*field.child, f);
  });
  f(module);
}

}  // namespace mote
