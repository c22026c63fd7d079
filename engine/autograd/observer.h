// Observer, the one hook into a running program, and Event, what it is told. To learn how gradients flow, read op.h.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "engine/array/nbytes.h"
#include "engine/autograd/tensor.h"

namespace mote {

class Op;

/// A value that an op's rule keeps, one of those that save() listed.
class KeptValue {
 public:
  template <class T>
  explicit KeptValue(const T& value) : type_(&type_of<T>), value_(&value), bytes_(nbytes(value)) {}
  /// Null if it is no T.
  template <class T>
  const T* as() const {
    return type_ == &type_of<T> ? static_cast<const T*>(value_) : nullptr;
  }
  Index bytes() const { return bytes_; }

 private:
  template <class T>
  static inline const char type_of = 0;  // its address stands for T
  const char* type_;
  const void* value_;
  Index bytes_;
};

/// What an observer wants of a value inside an op.
enum class Want { nothing, to_see, to_change };

/// Something that happens on a thread. `name` is always set: it is the op's or the value's. Beside each kind stand the
/// other fields that are set.
struct Event {
  enum Kind {
    layer_opened,   ///< layer
    layer_closed,   ///< layer
    op_opened,      ///< op, whose inputs are not known yet
    op_closed,      ///< op; one that returns no Tensor, such as argmax, opens and closes but records nothing
    rule_opened,    ///< node, dy: backward has reached `node`, whose rule runs until it is closed
    rule_closed,    ///< node
    op_recorded,    ///< op, result, kept; node, null if no gradient is tracked
    gradient_sent,  ///< node, dy, dx, input: the rule has sent dx to that input
    value_asked,    ///< want: does anybody want this value? To have it may cost time and memory
    value_offered,  ///< value, which may be replaced
    value_shown     ///< value, after all changes
  };
  Kind kind;
  std::string_view name = {};
  const LayerScope* layer = nullptr;
  const Op* op = nullptr;
  const Node* node = nullptr;
  const Array *result = nullptr, *dy = nullptr, *dx = nullptr;
  std::size_t input = 0;
  std::span<const KeptValue> kept = {};
  Tensor* value = nullptr;
  Want* want = nullptr;

  /// To value_asked: the value is wanted at least so much.
  void answer(Want w) const { *want = std::max(*want, w); }
  /// Bytes that the rule keeps until backward.
  Index kept_bytes() const {
    Index bytes = 0;
    for (const KeptValue& one : kept) bytes += node ? one.bytes() : 0;
    return bytes;
  }
};

/// Is told what its thread does from watch() until destruction. No result depends on it. Several may watch at once:
/// each is told everything, the innermost first. Layers, ops and rules nest. What has opened also closes, even after an
/// error; what an observer throws then is lost, at any other event it is the program's error. What runs inside a rule
/// or an observer is not told.
///
///     struct CountOps : Observer {
///       int count = 0;
///       CountOps() { watch(); }
///       void event(const Event& e) override { count += e.kind == Event::op_recorded; }
///     };
///
/// Values have names. "" is the result of the innermost layer: every layer offers and shows it. Attention has "scores"
/// before masks, "weights", "dropped_weights" and "heads", [..., H, Tq, dv]; norms have "scale". These are asked for
/// first. If somebody wants to change one, the op runs as its formula: the same bits, in ops that gradients pass.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  virtual ~Observer();
  static void* operator new(std::size_t) = delete;  // a scope: it lives on the stack of the thread that it observes
  virtual void event(const Event& e) = 0;

 protected:
  /// Starts observing: event() is called for all that happens from now on. A second call changes nothing. Errors: the
  /// call is made inside another observer's event().
  void watch();

 private:
  friend void tell(const Event& e);
  friend void tell_closed(const Event& e) noexcept;
  Observer* outer_ = nullptr;
};

/// Lets this thread be observed as MOTE_DEBUG, MOTE_CHECK and MOTE_PROFILE ask, if they do: the core's only call of
/// engine/watch. Errors: a setting's value is none.
void watch_for_environment();

/// Whoever observes this thread; null when nobody does. Only then is it worthwhile to tell something.
inline Observer* watching() {
  if (!thread_context.environment_read) [[unlikely]]
    watch_for_environment();
  return thread_context.observer;
}

/// Tells all of this thread's observers. Those who were told that something opens are told that it closes if another
/// one then throws.
void tell(const Event& e);
/// Tells them that something closes.
void tell_closed(const Event& e) noexcept;

/// What observers want of the op's value of that name.
inline Want wanted_value(std::string_view name) {
  Want want = Want::nothing;
  if (watching()) [[unlikely]]
    tell({.kind = Event::value_asked, .name = name, .want = &want});
  return want;
}
/// Shows it to them.
inline void show_value(std::string_view name, Tensor x) {
  if (watching()) [[unlikely]]
    tell({.kind = Event::value_shown, .name = name, .value = &x});
}
/// What they make of it.
inline Tensor offer_value(std::string_view name, Tensor x) {
  if (watching()) [[unlikely]] {
    tell({.kind = Event::value_offered, .name = name, .value = &x});
    show_value(name, x);
  }
  return x;
}

}  // namespace mote
