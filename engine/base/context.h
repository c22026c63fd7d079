// What this thread is doing now: its current op and layer, its observer, whether gradients are off.
#pragma once

#include <string>

namespace mote {

class Observer;
class StreamGuard;

/// One layer being called on this thread. Nested calls form a stack; `path` converts it into a dotted name such as
/// `transformer.h.2.mlp` and is called only on demand (for an error, a trace, a NaN report).
struct LayerScope {
  const void* layer;
  const LayerScope* outer;
  std::string (*path)(const LayerScope& innermost);
  std::string (*type)(const LayerScope& innermost);  ///< the layer's class
};

/// Set and restored by scopes: Op, Layer's call, Observer, StreamGuard, NoGrad. No result depends on the first three,
/// nor on the last, which is for an error's text.
struct Context {
  const char* op = nullptr;           ///< the innermost open op: the first word of every error
  const LayerScope* layer = nullptr;  ///< the innermost layer being called: the last words of every error
  Observer* observer = nullptr;       ///< the innermost observer; each knows the one around it
  StreamGuard* streams = nullptr;     ///< remembers the random streams drawn from, in case of an error
  bool quiet = false;                 ///< observers are not notified: inside a rule or an observer
  bool no_grad = false;               ///< ops record no graph
  const char* unrecorded = nullptr;   ///< an op that ended without record() although an input required a gradient
};
inline constinit thread_local Context thread_context;

/// The dotted path of the innermost layer being called, or "" outside every layer.
inline std::string current_layer() {
  return thread_context.layer ? thread_context.layer->path(*thread_context.layer) : std::string();
}

}  // namespace mote
