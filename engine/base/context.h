// The context of a thread: its current op and layer, its observer and whether gradients are off.
#pragma once

#include <string>
#include <utility>

namespace mote {

class Observer;

/// One layer that is being called on this thread. Nested calls form a stack. `path` converts the stack into a dotted
/// name such as `transformer.h.2.mlp`, and is called only when an error, a trace or a NaN report needs that name.
struct LayerScope {
  const void* layer;
  const LayerScope* outer;
  std::string (*path)(const LayerScope& innermost);
  std::string (*type)(const LayerScope& innermost);  ///< the name of the layer's class
};

/// The state of a thread. Only `no_grad` affects results; the other fields serve errors and reports. Most fields are
/// changed by objects such as During (below). Their destructors restore the former values, also after an exception.
struct Context {
  const char* op = nullptr;           ///< the innermost op that is running; error messages begin with its name
  const LayerScope* layer = nullptr;  ///< the innermost layer being called; error messages end with its path
  long long step = -1;                ///< the training step, during its forward and backward passes; otherwise -1
  bool no_grad = false;               ///< if true, ops record no graph
  Observer* observer = nullptr;       ///< the innermost observer; null if ops are not reported, as in a backward rule
  bool environment_read = false;      ///< whether MOTE_DEBUG, MOTE_CHECK and MOTE_PROFILE have installed observers
  const char* unrecorded = nullptr;   ///< the last op that forgot to call record(); the error of backward() names it
};
inline constinit thread_local Context thread_context;

/// Gives a variable another value, and restores the former value at the end of the scope.
template <class T>
class During {
 public:
  During(T& field, T value) : field_(field), before_(std::exchange(field, value)) {}
  ~During() { field_ = before_; }
  During(const During&) = delete;

 private:
  T& field_;
  const T before_;
};

/// The dotted path of the innermost layer being called, or "" outside every layer.
inline std::string current_layer() {
  return thread_context.layer ? thread_context.layer->path(*thread_context.layer) : std::string();
}

}  // namespace mote
