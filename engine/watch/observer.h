// Observer, which sees the layers and ops of its thread, forward and backward: the only hook into mote at run time.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "engine/autograd/op.h"

namespace mote {

/// What an op reports once it has its result.
struct OpReport {
  const char* op;
  std::span<const Array* const> inputs;  ///< as passed to the op, undefined ones included
  const Array& result;
  bool view;         ///< the result shares memory with an input
  bool composed;     ///< of ops inside it, which have reported: its result is one of theirs
  Index flops;       ///< of the forward pass, as stated (Op::flops), else one per element of a result of its own work
  Index kept_bytes;  ///< what the op's rule keeps for backward; 0 if nothing is recorded
  bool infinity_on_purpose;                              ///< the op makes infinities by design (masked_fill)
  std::span<const std::pair<const char*, Shape>> notes;  ///< shapes of values that are neither input nor result
  const Node* node;  ///< the recorded node, which identifies the op in backward; null if nothing is recorded
};

/// What observers may ask of an op in backward.
struct Recorded {
  std::string layer;  ///< the path of the layer the op was in, "" outside every layer or if only a Profile watched
  Index flops = 0;    ///< OpReport::flops
  std::vector<Index> gradient_flops;  ///< the work of each input's gradient, if the op stated it
  // Filled in by a Profile:
  std::string layer_type;  ///< the innermost layer's class
  bool moves = false;      ///< no view: its rule does work of its own
  Index kept_bytes = 0;    ///< for the rule
};
/// Null if nobody watched when the op was recorded.
inline Recorded* recorded(const Node& node) { return static_cast<Recorded*>(node.watched.get()); }
/// " (in <layer>)", or "" where that is not known.
std::string in_layer(const Node& node);

/// Sees what its thread does from watch() until destruction: override what you need. Layers and ops nest, and whatever
/// opens also closes, even after an exception: hence the closing functions must not throw. What runs inside a rule or
/// an observer is not reported. Results never depend on an observer; without one, an op tests one pointer (op.h).
/// Several observers may be active at once; each receives everything.
///
///     struct CountOps : Observer {
///       int count = 0;
///       CountOps() { watch(); }
///       void op_recorded(const OpReport&) override { ++count; }
///     };
class Observer {
 public:
  Observer() = default;
  Observer(const Observer&) = delete;
  virtual ~Observer() noexcept(false);              ///< of some scopes it says that they have reached nothing
  static void* operator new(std::size_t) = delete;  // a scope: it lives on the stack of the thread it observes

  virtual void layer_opened(const LayerScope&) {}
  virtual void layer_closed(const LayerScope&) noexcept {}

  virtual void op_opened(const Op&) {}  ///< its inputs are not known yet
  /// An op that returns no Tensor, such as argmax, opens and closes but records nothing.
  virtual void op_recorded(const OpReport&) {}
  virtual void op_closed(const Op&) noexcept {}

  /// Backward has reached `node` with gradient `dy`; its rule runs until rule_closed.
  virtual void rule_opened(const Node&, const Array& /*dy*/) {}
  /// The rule has sent `dx` to input `i`.
  virtual void gradient_sent(const Node&, std::size_t /*i*/, const Array& /*dx*/, const Array& /*dy*/) {}
  virtual void rule_closed(const Node&) noexcept {}

  /// Whether to show an op's internal value of that name, such as attention's "weights". It may cost time and memory.
  virtual bool wants(const char* /*value*/) const { return false; }
  virtual void value_shown(const char* /*value*/, const Tensor&) {}
  /// Whether to change a value on its way: "" is the result of the innermost layer, which is about to return; inside
  /// attention there are "scores" before masks, "weights", "dropped_weights" and "heads", [..., H, Tq, dv], and inside
  /// norms "scale". If somebody wants one of these, the op runs as its formula: the same bits, in ops that gradients
  /// pass.
  virtual bool changes(const char* /*value*/) const { return false; }
  virtual Tensor changed(const char* /*value*/, const Tensor& x) { return x; }
  /// Whether Recorded::layer is needed, which takes long to find.
  virtual bool wants_layers() const { return true; }

 protected:
  /// Starts observing; the innermost observer is notified first. A second call changes nothing.
  void watch();

 private:
  friend class Watchers;
  Observer* around_ = nullptr;
};

}  // namespace mote
