// Observer, the only hook into a running program, and Event, which observers receive. To learn how gradients flow,
// read op.h instead.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>
#include <string_view>

#include "engine/array/nbytes.h"
#include "engine/autograd/tensor.h"

namespace mote {

class Op;

/// A value that an op's rule keeps, one of the values that were passed to save().
class KeptValue {
 public:
  template <class T>
  explicit KeptValue(const T& value) : type_(&type_of<T>), value_(&value), bytes_(nbytes(value)) {}
  /// A pointer to the value, or null if its type is not T.
  template <class T>
  const T* as() const {
    return type_ == &type_of<T> ? static_cast<const T*>(value_) : nullptr;
  }
  Index bytes() const { return bytes_; }

 private:
  template <class T>
  static inline const char type_of = 0;  // its address identifies the type T
  const char* type_;
  const void* value_;
  Index bytes_;
};

/// Whether observers want to see or to change a value inside an op.
enum class Want { nothing, to_see, to_change };

/// Something that happens on a thread and is reported to observers. `name` is the name of the op or of the value, and
/// is empty for a layer. The comment on each kind lists the other fields that are set.
struct Event {
  enum Kind {
    layer_opened,   ///< sets layer
    layer_closed,   ///< sets layer
    op_opened,      ///< sets op, whose inputs are not known yet
    op_closed,      ///< sets op; an op without a result Tensor, such as argmax, is closed but never recorded
    rule_opened,    ///< sets node, dy; backward has reached `node`, whose rule runs until rule_closed
    rule_closed,    ///< sets node
    op_recorded,    ///< sets op, result, kept and node; node is null if no graph is recorded
    gradient_sent,  ///< sets node, dy, dx, input; the rule of `node` has sent dx to input `input`
    value_asked,    ///< sets want; asks whether an observer wants a value that costs time and memory
    value_offered,  ///< sets value, which may be replaced
    value_shown     ///< sets value, after all changes
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

  /// Answers a value_asked event with what this observer wants. If several observers answer, the strongest wish counts.
  void answer(Want w) const { *want = std::max(*want, w); }
  /// The bytes that the rule keeps until backward, or 0 if no graph is recorded.
  Index kept_bytes() const {
    Index bytes = 0;
    for (const KeptValue& one : kept) bytes += node ? one.bytes() : 0;
    return bytes;
  }
};

/// Receives the events of its thread, from watch() until its destruction. Watching alone changes no result. Several
/// observers may watch at once. Each one receives every event, and the one that began to watch last receives it first.
/// Layers, ops and rules nest. Each opening event is followed by its closing event, even after an error. An exception
/// that an observer throws at a closing event is dropped. At any other event the exception goes to the program. Ops
/// that run inside a rule or inside event() are not reported.
///
///     struct CountOps : Observer {
///       int count = 0;
///       CountOps() { watch(); }
///       void event(const Event& e) override { count += e.kind == Event::op_recorded; }
///     };
///
/// In the events value_asked, value_offered and value_shown, `name` is the name of the value. The empty name "" means
/// the result of the innermost layer. Every layer sends value_offered and value_shown for its result. Attention has the
/// values "scores" (before masks), "weights", "dropped_weights" and "heads" of shape [..., H, Tq, dv]. Norms have the
/// value "scale" of shape [..., 1], by which they multiply each row. For a value inside attention or a norm,
/// value_asked is sent first. If an observer answers Want::to_change, separate ops compute the attention or norm with
/// the same bits, so that gradients flow through the changed value.
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  virtual ~Observer();
  static void* operator new(std::size_t) = delete;  // an observer lives on the stack of the thread that it observes
  virtual void event(const Event& e) = 0;

 protected:
  /// Starts observing. From now on, event() is called for every event of this thread. A second call changes nothing.
  /// Errors: the call is made inside another observer's event().
  void watch();

 private:
  friend void tell(const Event& e);
  friend void tell_closed(const Event& e) noexcept;
  Observer* outer_ = nullptr;
};

/// Installs on this thread the observers that MOTE_DEBUG, MOTE_CHECK and MOTE_PROFILE ask for. This is the only
/// function of engine/watch that the core calls. Errors: a variable has an invalid value.
void watch_for_environment();

/// The innermost observer of this thread. It is null if there is none. It is also null inside a rule or event(),
/// because the ops there are not reported.
inline Observer* watching() {
  if (!thread_context.environment_read) [[unlikely]]
    watch_for_environment();
  return thread_context.observer;
}

/// Sends an event to all observers of this thread. If one of them throws at an opening event, the observers that have
/// already received the event also receive its closing event.
void tell(const Event& e);
/// Sends a closing event to all observers of this thread. Their exceptions are dropped.
void tell_closed(const Event& e) noexcept;

/// Asks the observers whether they want to see or to change the value of that name in the current op.
inline Want wanted_value(std::string_view name) {
  Want want = Want::nothing;
  if (watching()) [[unlikely]]
    tell({.kind = Event::value_asked, .name = name, .want = &want});
  return want;
}
/// Shows a value to the observers.
inline void show_value(std::string_view name, Tensor x) {
  if (watching()) [[unlikely]]
    tell({.kind = Event::value_shown, .name = name, .value = &x});
}
/// Offers a value to the observers, who may replace it. Then shows them the value that results, and returns it.
inline Tensor offer_value(std::string_view name, Tensor x) {
  if (watching()) [[unlikely]] {
    tell({.kind = Event::value_offered, .name = name, .value = &x});
    show_value(name, x);
  }
  return x;
}

}  // namespace mote
