// Module and Layer, the bases of every layer; Visitor, which sees a module's fields; and what they provide: names,
// parameters, random streams, train/eval, summary, clone, copy_weights.
#pragma once

#ifndef __cpp_rtti
#error "mote: compile without -fno-rtti: layers are told apart by their types; tensors and ops do without"
#endif

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "engine/array/random.h"
#include "nn/layer_call.h"

namespace mote {

/// A field of a module, or of one inside it, as visit() lists it.
struct ModuleField {
  const std::string& path;  ///< its dotted name, such as `transformer.h.0.attn.c_attn.weight`
  Module* owner;            ///< the module that lists it
  // What it is; the others are null.
  Parameter* parameter = nullptr;
  Array* buffer = nullptr;
  Generator* stream = nullptr;
  Module* child = nullptr;  ///< its own fields follow
};

/// Calls see(field) for every field of a module tree, in the order in which visit() lists them; an undefined parameter
/// or buffer is left out. Through a const module fields are only to be read. Errors: a module that was moved from, an
/// empty name, or one with a dot.
void each_field(const Module& module, const std::function<void(const ModuleField&)>& see);

/// What visit() tells a module's fields to, each by its name.
class Visitor {
 public:
  void operator()(const std::string& name, Parameter& parameter);
  void operator()(const std::string& name, Module& child);
  /// Children in a list are named by position: h.0, h.1, ...
  template <class M>
  void operator()(const std::string& name, std::vector<M>& children) {
    static_assert(
        std::is_nothrow_move_constructible_v<M>,
        "a vector copies elements whose move may throw, and modules cannot be copied: which field's move may throw?");
    const Name here(*this, name);
    for (std::size_t i = 0; i < children.size(); ++i) (*this)(std::to_string(i), children[i]);
  }
  /// An optional child.
  template <class M>
  void operator()(const std::string& name, std::optional<M>& child) {
    if (child) (*this)(name, *child);
  }
  /// The child that is there.
  template <class... M>
  void operator()(const std::string& name, std::variant<M...>& child) {
    std::visit([&](auto& layer) { (*this)(name, layer); }, child);
  }
  /// An array that belongs to the module but is not trained: copied with it, never updated.
  void buffer(const std::string& name, Array& array);
  /// A random stream that the module draws from after construction: results depend on it as on a weight.
  void stream(const std::string& name, Generator& random);

 private:
  friend void each_field(const Module& module, const std::function<void(const ModuleField&)>& see);
  Visitor(Module& outermost, const std::function<void(const ModuleField&)>& see) : owner_(&outermost), see_(see) {}
  struct Name {  // appends a name to the path during its lifetime
    Name(Visitor& v, const std::string& name);
    ~Name() { visitor.path_.resize(length); }
    Visitor& visitor;
    std::size_t length;
  };
  std::string path_;
  Module* owner_;
  const std::function<void(const ModuleField&)>& see_;
};

/// The base of every layer and model: a plain struct whose fields are its parameters and children, listed once in
/// visit(). Modules can be moved, not copied: a copy would share its parameters with the original but not its flags.
/// clone() makes an independent copy.
class Module {
 public:
  virtual ~Module() = default;
  /// Lists every field that is a parameter, a buffer, a random stream or a module, in the order in which they are
  /// drawn and printed.
  virtual void visit(Visitor& v) = 0;

  /// Training mode, the state a module starts in, or evaluation: for this module and all its children. It switches
  /// Dropout, not gradients (NoGrad does that).
  void train(Flag on = true);
  void eval() { train(false); }
  /// Errors: it would train, but another thread keeps it in evaluation mode (Evaluation); it trains inside the call of
  /// a layer that is in evaluation and whose visit() does not list it.
  bool training() const;

  /// "Linear", "TransformerBlock": the class's name without namespaces, unless a class overrides it.
  virtual std::string type_name() const;

 protected:
  Module() = default;
  Module(Module&& other) noexcept
      : trains_(other.trains_.load()), moved_from_(std::exchange(other.moved_from_, true)) {}
  /// Errors: a module is moved to itself, which would empty its lists; an Evaluation keeps the one that is replaced.
  Module& operator=(Module&& other) {
    check_in("module", this != &other || moved_from_, "a module is moved to itself");
    check_in("module", evaluations_ == 0, "this ", type_name(),
             " is replaced while an Evaluation keeps it in evaluation mode");
    trains_ = other.trains_.load();
    moved_from_ = std::exchange(other.moved_from_, true);
    return *this;
  }
  /// Errors: always, except inside clone().
  Module(const Module& other);
  Module& operator=(const Module&) = delete;

  struct Cloning {  // during its lifetime, this thread may copy modules
    Cloning() { ++depth; }
    ~Cloning() { --depth; }
    static inline constinit thread_local int depth = 0;
  };
  /// Gives every parameter of a fresh copy its own cell; parameters tied within the module stay tied.
  static void own_cells(Module& copy);
  /// Errors: this was moved from.
  void require_kept() const;

 private:
  friend class Evaluation;
  friend class Visitor;
  friend void each_field(const Module& module, const std::function<void(const ModuleField&)>& see);
  std::atomic<bool> trains_{true};   // set by train() and eval()
  std::atomic<int> evaluations_{0};  // Evaluations that it is in, of all threads: while there is one, it does not train
  bool moved_from_ = false;
};

namespace detail {
/// `module` and everything inside, parents first.
std::vector<Module*> modules_of(Module& module);
}  // namespace detail

template <class Derived>
class Layer;

namespace detail {
/// A virtual base is constructed by the outermost class, and only the layer itself may construct this one. So neither
/// `struct Scaled : Linear` compiles, nor `struct A : Layer<B>`. The compiler's error shows the name of this class.
template <class L>
class PutTheLayerIntoAField {
  friend L;
  friend Layer<L>;
  PutTheLayerIntoAField() = default;
};
}  // namespace detail

/// The base of a layer: `struct Mine : Layer<Mine>` with a forward(...) const of any signature. Calling the layer,
/// mine(x), opens its scope and calls forward, so that errors, reports and traces can name the layer. A layer is no
/// base of another: Linear's call and clone() know no more than a Linear. To extend one, put it into a field.
template <class Derived>
class Layer : public Module,
              public detail::WrongCalls<Derived>,
              private virtual detail::PutTheLayerIntoAField<Derived> {
 public:
  using detail::WrongCalls<Derived>::operator();
  /// Tells a layer without a visit() of its own what to write.
  void visit(Visitor&) override {
    static_assert(std::is_same_v<decltype(&Derived::visit), void (Derived::*)(Visitor&)>,
                  "a layer lists its fields: void visit(Visitor& v) override { v(\"weight\", weight); }");
  }
  template <class... Arguments>
  requires detail::Takes<Derived, Arguments...>
  decltype(auto) operator()(Arguments&&... arguments) const {
    require_kept();
    const detail::OpenLayer here(*this);
    const auto forward = [&]() -> decltype(auto) {
      return static_cast<const Derived*>(this)->forward(std::forward<Arguments>(arguments)...);
    };
    if constexpr (std::is_same_v<decltype(forward()), Tensor>) {
      Tensor y = forward();
      here.offer(y);
      return y;
    } else {
      return forward();
    }
  }

  /// An independent copy: equal values in cells of its own, tied parameters still tied; only random streams are shared.
  Derived clone() const {
    const Cloning allowed;
    Derived copy(static_cast<const Derived&>(*this));
    own_cells(copy);
    return copy;
  }
};

/// One layer with its dotted name.
struct NamedModule {
  std::string name;
  const Module* module;
};
/// The module itself, "", and every layer inside, each before its own, in visit order; one with two names twice.
std::vector<NamedModule> named_modules(const Module& module);
std::vector<NamedModule> named_modules(const Module&&) = delete;  // they would die with the temporary

/// One parameter with its dotted name; a loose one has none.
struct NamedParameter {
  NamedParameter() = default;
  NamedParameter(std::string path, Parameter p) : name(std::move(path)), parameter(std::move(p)) {}
  NamedParameter(const Parameter& loose) : parameter(loose) {}

  std::string name;
  Parameter parameter;
};

/// Every parameter in visit order, a tied one once, under its first name; with `ties`, once per name.
/// Errors: two fields with the same name.
std::vector<NamedParameter> named_parameters(const Module& module, Flag ties = false);
std::vector<Parameter> parameters(const Module& module);

/// One buffer with its dotted name; `array` points into the module.
struct NamedBuffer {
  std::string name;
  Array* array;
};
struct NamedConstBuffer {
  std::string name;
  const Array* array;
};
std::vector<NamedBuffer> named_buffers(Module& module);
std::vector<NamedConstBuffer> named_buffers(const Module& module);
std::vector<NamedConstBuffer> named_buffers(const Module&&) = delete;

/// One random stream with its dotted name.
struct NamedStream {
  std::string name;
  Generator stream;
};
/// Every stream in visit order, a shared one once, under its first name; with `ties`, once per name.
std::vector<NamedStream> named_streams(const Module& module, Flag ties = false);

/// Number of elements in all parameters, tied ones counted once.
Index parameter_count(const Module& module);
void zero_grad(const Module& module);
/// Freezes (false) or unfreezes every parameter of a module.
void set_trainable(Module& module, Flag on);
/// Calls f(m) for every module inside and then for `module` itself: children before their parent, in visit order, like
/// PyTorch's model.apply(f). With dynamic_cast<Linear*>(&m), f can redraw the weights of every Linear, for example.
void apply(Module& module, const std::function<void(Module&)>& f);
/// Copies parameters and buffers by name. Errors: names that only one side has, shapes that differ; the message lists
/// all of them, and nothing is copied.
void copy_weights(const Module& from, Module& to);
/// One line per layer that has parameters of its own: name, type, parameter shapes, count; then the total.
std::string summary(const Module& module);

}  // namespace mote
