// The functions of Module and Visitor; each walk over the fields is one small Visitor.
#include "nn/module.h"

#include <cxxabi.h>

#include <map>
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
  if (parameter.defined()) on_parameter(parameter);  // a layer without a bias lists it too
}
void Visitor::operator()(const std::string& name, Module& child) {
  child.require_kept();  // else what it holds would silently be missing in a list, or in a file
  const Name here(*this, name);
  on_enter(child);
  child.visit(*this);
  on_leave(child);
}
void Visitor::buffer(const std::string& name, Array& array) {
  const Name here(*this, name);
  if (array.defined()) on_buffer(array);
}
void Visitor::stream(const std::string& name, Generator& random) {
  const Name here(*this, name);
  on_stream(random);
}

void Module::read(Reader& reader) const {
  require_kept();
  struct Forward : Visitor {  // passes what a Visitor finds to the reader's hooks, as const
    explicit Forward(Reader& r) : reader(r) { reader.path_ = &path(); }
    ~Forward() override { reader.path_ = nullptr; }
    void on_parameter(Parameter& p) override { reader.on_parameter(p); }
    void on_buffer(Array& a) override { reader.on_buffer(a); }
    void on_stream(Generator& g) override { reader.on_stream(g); }
    void on_enter(Module& m) override { reader.on_enter(m); }
    void on_leave(Module& m) override { reader.on_leave(m); }
    Reader& reader;
  };
  Forward forward(reader);
  const_cast<Module*>(this)->visit(forward);  // visit() lists fields without changing them, and a reader cannot
}

Module::Module(const Module& other) : mode_(other.own_mode()) {
  other.require_kept();
  check_in("copy", Cloning::depth > 0, "this ", other.type_name(),
           " was passed or assigned by value, and its copy would ",
           "share its parameters: write m.clone() for an independent one, std::move(m) to hand it over, or pass a "
           "reference");
  live_.fetch_add(1, std::memory_order_relaxed);
}

void Module::own_cells(Module& copy) {
  struct Own : Visitor {
    std::map<const Parameter::Cell*, Parameter> fresh;
    void on_parameter(Parameter& p) override {
      auto [place, added] = fresh.try_emplace(p.id());
      if (added) {
        place->second = Parameter(copy_of(p.value()));
        place->second.set_trainable(p.trainable());
        fresh[place->second.id()] = place->second;  // a field listed twice is met again with its new cell
      }
      p = fresh[p.id()];
    }
  } own;
  copy.visit(own);
}

std::vector<Module*> detail::modules_of(Module& module) {
  struct List : Visitor {
    std::vector<Module*> modules;
    void on_enter(Module& m) override { modules.push_back(&m); }
  } list;
  list.modules.push_back(&module);
  module.visit(list);
  return std::move(list.modules);
}

void Module::train(bool on) {
  for (Module* m : detail::modules_of(*this))  // all or, without the memory for the list, none
    on ? m->mode_.fetch_or(1, std::memory_order_relaxed) : m->mode_.fetch_and(~1, std::memory_order_relaxed);
}

void Module::check_kept_here() const {
  if (Evaluation::open_ > 0) return;
  check_in("training", false, "another thread keeps this ", type_name(),
           " in evaluation mode (generate, Evaluation): call eval() before threads share it, and train it alone");
}

void Module::fail_moved_from() const {
  check_in("layer", false, "this ", type_name(), " was moved from: use the one that it was moved to");
}

/// The path of `wanted`, or "" if visit() lists no such module.
static std::string path_within(const Module& outer, const Module& wanted) {
  struct Find : Reader {
    explicit Find(const Module& m) : wanted(m) {}
    void on_enter(const Module& m) override {
      if (&m == &wanted && found.empty()) found = path();
    }
    const Module& wanted;
    std::string found;
  } find(wanted);
  outer.read(find);
  return find.found;
}

void Module::check_reached() const {
  for (const LayerScope* scope = thread_context.layer; scope; scope = scope->outer) {
    const Module& around = *static_cast<const Module*>(scope->layer);
    if (&around == this || around.mode_ == 1) continue;
    check_in("eval", !path_within(around, *this).empty(), "visit() of ", around.type_name(), " does not list the ",
             type_name(), " that it calls, which therefore stays in training mode");
  }
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

}  // namespace mote
