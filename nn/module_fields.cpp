// The fields of a module by name: parameters, buffers, random streams; and the functions that act on all of them.
#include <algorithm>
#include <functional>
#include <set>

#include "nn/module.h"

namespace mote {
namespace {

/// The fields' names, which are keys of a state: no two may be equal.
struct Names {
  std::set<std::string> seen;
  void operator()(const std::string& name) {
    check_in("visit", seen.insert(name).second, "two fields are named '", name, "'");
  }
};

/// A Reader made of lambdas, which also checks every field's name.
struct ReadNamed : Reader {
  std::function<void(const std::string&, const Parameter&)> parameter;
  std::function<void(const std::string&, const Array&)> array;
  std::function<void(const std::string&, const Generator&)> stream;
  Names names;
  void on_parameter(const Parameter& p) override {
    names(path());
    if (parameter) parameter(path(), p);
  }
  void on_buffer(const Array& a) override {
    names(path());
    if (array) array(path(), a);
  }
  void on_stream(const Generator& g) override {
    names(path());
    if (stream) stream(path(), g);
  }
};

}  // namespace

std::vector<NamedParameter> named_parameters(const Module& module, bool ties) {
  std::vector<NamedParameter> list;
  std::set<const Parameter::Cell*> seen;
  ReadNamed each;
  each.parameter = [&](const std::string& name, const Parameter& p) {
    if (seen.insert(p.id()).second || ties) list.push_back({name, p});
  };
  module.read(each);
  return list;
}

std::vector<Parameter> parameters(const Module& module) {
  std::vector<Parameter> list;
  for (NamedParameter& p : named_parameters(module)) list.push_back(std::move(p.parameter));
  return list;
}

std::vector<NamedConstBuffer> named_buffers(const Module& module) {
  std::vector<NamedConstBuffer> list;
  ReadNamed each;
  each.array = [&](const std::string& name, const Array& a) { list.push_back({name, &a}); };
  module.read(each);
  return list;
}

std::vector<NamedBuffer> named_buffers(Module& module) {
  static_cast<void>(named_buffers(std::as_const(module)));  // for its errors
  struct List : Visitor {
    std::vector<NamedBuffer> list;
    void on_buffer(Array& a) override { list.push_back({path(), &a}); }
  } buffers;
  module.visit(buffers);
  return buffers.list;
}

std::vector<NamedStream> named_streams(const Module& module, bool ties) {
  std::vector<NamedStream> list;
  ReadNamed each;
  each.stream = [&](const std::string& name, const Generator& random) {
    const auto same = [&](const NamedStream& s) { return s.stream.same_as(random); };
    if (ties || std::none_of(list.begin(), list.end(), same)) list.push_back({name, random});
  };
  module.read(each);
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

void set_trainable(Module& module, bool on) {
  for (const Parameter& p : parameters(module)) p.set_trainable(on);
}

std::vector<std::string> without_gradient(const Module& module) {
  std::vector<std::string> names;
  for (const NamedParameter& p : named_parameters(module))
    if (p.parameter.trainable() && !p.parameter.grad().defined()) names.push_back(p.name);
  return names;
}

void apply(Module& module, const std::function<void(Module&)>& f) {
  struct Call : Visitor {
    explicit Call(const std::function<void(Module&)>& g) : f(g) {}
    void on_leave(Module& m) override { f(m); }
    const std::function<void(Module&)>& f;
  } call(f);
  module.visit(call);
  f(module);
}

}  // namespace mote
