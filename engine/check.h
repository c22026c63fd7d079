// What is here: Error, check(), and the two thread-local notes (which op, which layer) that every error message is
//   prefixed and finished with.
// What is not: who sets the notes. Op (tensor.h) sets the op, Module (nn/module.h) the layer.
// Read next: shape.h.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace mote {

/// The one exception type of the library: a mistake of the caller, said in one sentence.
class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One layer being called on this thread. Layers stack up as they call each other; `path` turns the stack into a dotted
/// name such as `transformer.h.2.mlp` and is called only when somebody asks (an error, a trace, a NaN report).
struct LayerScope {
  const void* layer;
  const LayerScope* outer;
  std::string (*path)(const LayerScope& innermost);
};

namespace place {  // what this thread is doing right now
inline constinit thread_local const char* op = nullptr;
inline constinit thread_local const LayerScope* layer = nullptr;
}  // namespace place

/// The dotted path of the innermost layer being called, or "" outside every layer.
inline std::string current_layer() { return place::layer ? place::layer->path(*place::layer) : std::string(); }

namespace detail {
/// Throws Error("<op>: <message> (in <layer>)"); `fallback` is the name used when no op is open.
[[noreturn]] inline void fail(const char* fallback, const std::string& message) {
  const char* op = place::op ? place::op : fallback;
  std::string text = op ? std::string(op) + ": " + message : message;
  const std::string layer = current_layer();
  if (!layer.empty()) text += " (in " + layer + ")";
  throw Error(text);
}

template <class... Parts>
[[noreturn]] void fail_with(const char* fallback, const Parts&... parts) {
  std::ostringstream text;
  text.imbue(std::locale::classic());
  (text << ... << parts);
  fail(fallback, text.str());
}
}  // namespace detail

/// Throws Error made of `parts` unless `condition` holds. The text is put together only on failure.
template <class... Parts>
void check(bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    detail::fail_with(nullptr, parts...);
}

/// The same for functions that work inside an op and outside one: `name` opens the sentence when no op is open.
template <class... Parts>
void check_in(const char* name, bool condition, const Parts&... parts) {
  if (!condition) [[unlikely]]
    detail::fail_with(name, parts...);
}

}  // namespace mote
