// What this thread is doing now: its current op and layer, who watches it, whether gradients are off.
#pragma once

#include <string>
#include <utility>

namespace mote {

class Observer;

/// One layer being called on this thread. Nested calls form a stack; `path` converts it into a dotted name such as
/// `transformer.h.2.mlp` and is called only on demand (for an error, a trace, a NaN report).
struct LayerScope {
  const void* layer;
  const LayerScope* outer;
  std::string (*path)(const LayerScope& innermost);
  std::string (*type)(const LayerScope& innermost);  ///< the layer's class
};

/// Changed by scopes (During), so that whatever an exception ends is as before. Only `no_grad` concerns results. The
/// others are for errors and reports.
struct Context {
  const char* op = nullptr;           ///< the innermost open op: the first word of every error
  const LayerScope* layer = nullptr;  ///< the innermost layer being called: the last words of every error,
  long long step = -1;                ///< and behind it the step of a training, in its passes; -1: none
  bool no_grad = false;               ///< ops record no graph
  Observer* observer = nullptr;       ///< the innermost; null when nobody looks, and inside a rule
  bool environment_read = false;      ///< whether MOTE_DEBUG, MOTE_CHECK and MOTE_PROFILE have installed theirs
  const char* unrecorded = nullptr;   ///< an op that ended without record() although an input required a gradient
};
inline constinit thread_local Context thread_context;

/// While one lives, a field of the context has another value.
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
