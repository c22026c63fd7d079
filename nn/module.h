// Module and Layer, the base classes of every layer, and Visitor, to which a module lists its fields. They provide
// names, parameters, random streams, train/eval, summary, clone and copy_weights.
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

/// A field of a module, or of a module inside it, as visit() lists it.
struct ModuleField {
  const std::string& path;  ///< the field's dotted name, such as `transformer.h.0.attn.c_attn.weight`
  Module* owner;            ///< the module that lists the field
  // One of the pointers parameter, buffer, stream and child is set. The others are null.
  Parameter* parameter = nullptr;
  Array* buffer = nullptr;
  Generator* stream = nullptr;
  Module* child = nullptr;  ///< the fields of this child follow
};

/// Calls see(field) for every field of a module tree, in the order in which visit() lists the fields. Undefined
/// parameters and buffers are left out. The fields of a const module must only be read. Errors: a module that was
/// moved from; a name that is empty or contains a dot.
void each_field(const Module& module, const std::function<void(const ModuleField&)>& see);

/// The argument of visit(), to which a module lists its fields by name.
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
  /// Lists an optional child if there is one.
  template <class M>
  void operator()(const std::string& name, std::optional<M>& child) {
    if (child) (*this)(name, *child);
  }
  /// Lists the module that a variant holds.
  template <class... M>
  void operator()(const std::string& name, std::variant<M...>& child) {
    std::visit([&](auto& layer) { (*this)(name, layer); }, child);
  }
  /// Lists an array that belongs to the module but is not trained. It is copied with the module, and no optimizer
  /// updates it.
  void buffer(const std::string& name, Array& array);
  /// Lists a random stream that the module draws from after construction. Checkpoints save the stream's state, because
  /// later results depend on it.
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

/// The base class of every layer and model. A module is a plain struct whose fields, such as parameters and children,
/// are listed once in visit(). Modules can be moved but not copied, because a copy would share parameters with the
/// original but not the training mode. Layer::clone() makes an independent copy.
class Module {
 public:
  virtual ~Module() = default;
  /// Lists every field that is a parameter, a buffer, a random stream or a module. The module is printed in this order,
  /// which is by custom the order in which initial values are drawn.
  virtual void visit(Visitor& v) = 0;

  /// Switches this module and all its children to training mode, or to evaluation mode if `on` is false. A module
  /// starts in training mode. The mode affects layers such as Dropout. It does not affect gradients, which NoGrad
  /// switches off.
  void train(Flag on = true);
  void eval() { train(false); }
  /// Whether the module is in training mode. Errors, only for a module that is set to train: another thread keeps the
  /// module in evaluation mode with an Evaluation; the module runs inside a layer that is in evaluation mode and does
  /// not list the module in visit().
  bool training() const;

  /// The name of the class without namespaces, such as "Linear" or "TransformerBlock", unless the class overrides
  /// this.
  virtual std::string type_name() const;

 protected:
  Module() = default;
  Module(Module&& other) noexcept
      : trains_(other.trains_.load()), moved_from_(std::exchange(other.moved_from_, true)) {}
  /// Errors: a module is moved to itself, which would empty its lists; an Evaluation is open for the module that would
  /// be replaced.
  Module& operator=(Module&& other) {
    check_in("module", this != &other || moved_from_, "a module cannot be moved to itself");
    check_in("module", evaluations_ == 0, "this ", type_name(),
             " cannot be replaced while an Evaluation keeps it in evaluation mode");
    trains_ = other.trains_.load();
    moved_from_ = std::exchange(other.moved_from_, true);
    return *this;
  }
  /// Only clone() may copy a module. Errors: a copy outside clone().
  Module(const Module& other);
  Module& operator=(const Module&) = delete;

  struct Cloning {  // during its lifetime, this thread may copy modules
    Cloning() { ++depth; }
    ~Cloning() { --depth; }
    static inline constinit thread_local int depth = 0;
  };
  /// Gives every parameter of a fresh copy its own cell, which holds value and gradient, so that the copy no longer
  /// shares cells with the original. Parameters that are tied within the module stay tied.
  static void own_cells(Module& copy);
  /// Errors: this module was moved from.
  void require_kept() const;

 private:
  friend class Evaluation;
  friend class Visitor;
  friend void each_field(const Module& module, const std::function<void(const ModuleField&)>& see);
  std::atomic<bool> trains_{true};   // set by train() and eval()
  std::atomic<int> evaluations_{0};  // open Evaluations on all threads; above 0 the module does not train
  bool moved_from_ = false;
};

namespace detail {
/// `module` and all modules inside it, parents first.
std::vector<Module*> modules_of(Module& module);
}  // namespace detail

template <class Derived>
class Layer;

namespace detail {
/// Prevents deriving from a layer. In C++ the most derived class constructs a virtual base, and only L may construct
/// this virtual base. So neither `struct Scaled : Linear` nor `struct A : Layer<B>` compiles. The compiler's error
/// shows the name of this class, which says what to do instead.
template <class L>
class PutTheLayerIntoAField {
  friend L;
  friend Layer<L>;
  PutTheLayerIntoAField() = default;
};
}  // namespace detail

/// The base class of a layer: `struct Mine : Layer<Mine>` with a forward(...) const of any signature. Calling the
/// layer, mine(x), opens its scope and calls forward, so that errors, reports and traces can name the layer. A layer
/// cannot be the base of another layer, because Linear's call and clone(), for example, would treat the derived layer
/// as a plain Linear. To extend a layer, put it into a field of a new one.
template <class Derived>
class Layer : public Module,
              public detail::WrongCalls<Derived>,
              private virtual detail::PutTheLayerIntoAField<Derived> {
 public:
  using detail::WrongCalls<Derived>::operator();
  /// If a layer has no visit() of its own, this is a compile error that says what to write.
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

  /// An independent copy with equal values. Parameters that are tied stay tied within the copy. Only random streams
  /// are shared with the original.
  Derived clone() const {
    const Cloning allowed;
    Derived copy(static_cast<const Derived&>(*this));
    own_cells(copy);
    return copy;
  }
};

/// A module with its dotted name.
struct NamedModule {
  std::string name;
  const Module* module;
};
/// The module itself, named "", and every module inside it, in visit order and parents first. A module with two names
/// is listed twice.
std::vector<NamedModule> named_modules(const Module& module);
std::vector<NamedModule> named_modules(const Module&&) = delete;  // the modules would die with the temporary

/// A parameter with its dotted name. A parameter outside a module has no name.
struct NamedParameter {
  NamedParameter() = default;
  NamedParameter(std::string path, Parameter p) : name(std::move(path)), parameter(std::move(p)) {}
  NamedParameter(const Parameter& loose) : parameter(loose) {}

  std::string name;
  Parameter parameter;
};

/// Every parameter of a module in visit order. A tied parameter is listed once, under its first name, or with `ties`
/// once per name. Errors: two fields with the same name.
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
/// Every random stream of a module in visit order. A shared stream is listed once, under its first name, or with
/// `ties` once per name.
std::vector<NamedStream> named_streams(const Module& module, Flag ties = false);

/// The number of elements in all parameters of a module. Tied parameters are counted once.
Index parameter_count(const Module& module);
void zero_grad(const Module& module);
/// Unfreezes every parameter of a module, or freezes every parameter if `on` is false.
void set_trainable(Module& module, Flag on);
/// Calls f(m) for every module inside and then for `module` itself: children before their parent, in visit order, like
/// PyTorch's model.apply(f). With dynamic_cast<Linear*>(&m), f can redraw the weights of every Linear, for example.
void apply(Module& module, const std::function<void(Module&)>& f);
/// Copies the parameters and buffers of one module to another by name. Errors: names that only one module has; shapes
/// that differ. The message lists all of them, and nothing is copied.
void copy_weights(const Module& from, Module& to);
/// A table of a module's layers and parameters. Each layer that has parameters of its own has one line with its name,
/// its type, the shapes of its parameters and the number of their elements. The last line is the total.
std::string summary(const Module& module);

}  // namespace mote
