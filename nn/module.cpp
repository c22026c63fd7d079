// What Module offers, each thing one small Visitor.
#include "nn/module.h"

#include <cxxabi.h>

#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <typeinfo>

namespace mote {

Visitor::Name::Name(Visitor& v, const std::string& name) : visitor(v), length(v.path_.size()) {
  check_in("visit", !name.empty() && name.find('.') == std::string::npos, "'", name,
           "' is not a field's name: it must not be empty or have a dot");
  if (length) v.path_ += '.';
  v.path_ += name;
}

void Visitor::operator()(const std::string& name, Parameter& parameter) {
  const Name here(*this, name);
  if (parameter.defined()) on_parameter(parameter);  // a layer without a bias lists it all the same
}
void Visitor::operator()(const std::string& name, Module& child) {
  const Name here(*this, name);
  on_enter(child);
  child.visit(*this);
  on_leave(child);
}
void Visitor::buffer(const std::string& name, Array& array) {
  const Name here(*this, name);
  if (array.defined()) on_buffer(array);
}

namespace {

/// A Visitor made of lambdas, for the one-purpose visits below.
struct Each : Visitor {
  std::function<void(const std::string&, Parameter&)> parameter;
  std::function<void(const std::string&, Array&)> array;
  std::function<void(const std::string&, Module&)> module;
  std::function<void(Module&)> leave;
  void on_parameter(Parameter& p) override {
    if (parameter) parameter(path(), p);
  }
  void on_buffer(Array& a) override {
    if (array) array(path(), a);
  }
  void on_enter(Module& m) override {
    if (module) module(path(), m);
  }
  void on_leave(Module& m) override {
    if (leave) leave(m);
  }
};

}  // namespace

Module::Module(const Module& other) : training_(other.training_) {
  check(Cloning::depth > 0, "copying a module would share its parameters with the original: use clone() for an ",
        "independent one, or pass a reference");
  live_.fetch_add(1, std::memory_order_relaxed);
}

void Module::own_parameters(Module& copy) {
  std::map<const Parameter::Cell*, Parameter> fresh;
  Each each;
  each.parameter = [&](const std::string&, Parameter& p) {
    auto [place, added] = fresh.try_emplace(p.id());
    if (added) {
      place->second = Parameter(copy_of(p.value()));
      place->second.set_trainable(p.trainable());
      fresh[place->second.id()] = place->second;  // a field listed twice is met again with its new cell
    }
    p = fresh[p.id()];
  };
  copy.visit(each);
}

void Module::train(bool on) {
  training_ = on;
  Each each;
  each.module = [on](const std::string&, Module& m) { m.training_ = on; };
  visit(each);
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

std::string detail::layer_path(const LayerScope& innermost) {
  std::vector<const Module*> stack;  // innermost first
  for (const LayerScope* scope = &innermost; scope; scope = scope->outer)
    stack.push_back(static_cast<const Module*>(scope->layer));
  const Module* outer = stack.back();
  std::string path;
  for (auto inner = stack.rbegin() + 1; inner != stack.rend(); ++inner) {
    Each find;
    std::string found;
    find.module = [&](const std::string& name, Module& m) {
      if (&m == *inner && found.empty()) found = name;
    };
    outer->visit(find);
    if (!path.empty()) path += '.';
    path += found.empty() ? (*inner)->type_name() : found;
    outer = *inner;
  }
  return path.empty() ? outer->type_name() : path;
}

namespace {

/// The names met in one visit: parameters and buffers go into one file, so no two of them may share a name.
class Names {
 public:
  void add(const std::string& name) {
    check_in("visit", seen_.insert(name).second, "two fields are called '", name, "'");
  }

 private:
  std::set<std::string> seen_;
};

}  // namespace

std::vector<NamedParameter> named_parameters(const Module& module, bool ties) {
  std::vector<NamedParameter> list;
  Names names;
  std::set<const Parameter::Cell*> seen;
  Each each;
  each.parameter = [&](const std::string& name, Parameter& p) {
    names.add(name);
    if (seen.insert(p.id()).second || ties) list.push_back({name, p});
  };
  each.array = [&](const std::string& name, Array&) { names.add(name); };
  module.visit(each);
  return list;
}

std::vector<Parameter> parameters(const Module& module) {
  std::vector<Parameter> list;
  for (NamedParameter& p : named_parameters(module)) list.push_back(std::move(p.parameter));
  return list;
}

std::vector<NamedBuffer> named_buffers(const Module& module) {
  std::vector<NamedBuffer> list;
  Names names;
  Each each;
  each.parameter = [&](const std::string& name, Parameter&) { names.add(name); };
  each.array = [&](const std::string& name, Array& a) {
    names.add(name);
    list.push_back({name, &a});
  };
  module.visit(each);
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

void set_trainable(const Module& module, bool on) {
  for (const Parameter& p : parameters(module)) p.set_trainable(on);
}

std::vector<std::string> without_gradient(const Module& module) {
  std::vector<std::string> names;
  for (const NamedParameter& p : named_parameters(module))
    if (p.parameter.trainable() && !p.parameter.grad().defined()) names.push_back(p.name);
  return names;
}

void apply(const Module& module, const std::function<void(Module&)>& f) {
  Each each;
  each.leave = f;
  module.visit(each);
  f(const_cast<Module&>(module));
}

void copy_weights(const Module& from, const Module& to) {
  std::map<std::string, Array> source;
  for (const NamedParameter& p : named_parameters(from, true)) source[p.name] = p.parameter.value();
  for (const NamedBuffer& b : named_buffers(from)) source[b.name] = *b.array;
  std::string problems;
  const auto compare = [&](const std::string& name, const Shape& shape) {
    const auto found = source.find(name);
    if (found == source.end())
      problems += "\n  " + name + " is missing in the source";
    else if (!(found->second.shape() == shape))
      problems +=
          "\n  " + name + " is " + Shape::text(found->second.shape()) + " there and " + Shape::text(shape) + " here";
  };
  std::set<std::string> wanted;
  const std::vector<NamedParameter> targets = named_parameters(to, true);
  const std::vector<NamedBuffer> buffers = named_buffers(to);
  for (const NamedParameter& p : targets) compare(p.name, p.parameter.shape()), wanted.insert(p.name);
  for (const NamedBuffer& b : buffers) compare(b.name, b.array->shape()), wanted.insert(b.name);
  for (const auto& [name, array] : source)
    if (!wanted.contains(name)) problems += "\n  " + name + " has no place in the target";
  std::map<const Parameter::Cell*, std::string> tied;
  for (const NamedParameter& p : targets) {
    const auto [first, added] = tied.try_emplace(p.parameter.id(), p.name);
    if (!added && problems.empty() && source[p.name].to_vector() != source[first->second].to_vector())
      problems += "\n  " + first->second + " and " + p.name + " are one parameter here and two different ones there";
  }
  check_in("copy_weights", problems.empty(), "the modules do not match:", problems);
  for (const NamedParameter& p : targets) p.parameter.set(source[p.name]);
  for (const NamedBuffer& b : buffers) *b.array = source[b.name];
}

}  // namespace mote
