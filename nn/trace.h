// Trace, a scope that sees every layer and op of a forward pass: shapes, parameters, FLOPs, bytes, time.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "engine/watch/observer.h"
#include "nn/module.h"

namespace mote {

/// What an op costs, or all ops inside a module, or in a trace.
struct TraceCosts {
  Index flops = 0;
  Index bytes = 0;           ///< of the elements that the result allocated
  double seconds = 0;        ///< a module's: from call to return; an op's: excluding the ops inside it
  Index kept = 0;            ///< bytes of the elements that the op's rule keeps until backward
  Index backward_flops = 0;  ///< of the gradients that its rule sent
  double backward_seconds = 0;
  Index parameters = 0;  ///< of a module and its children, tied ones once; of an op none
};

/// One call of a module, or one op that recorded a result.
struct TraceEvent : TraceCosts {
  bool is_op = false;
  int depth = 0;              ///< modules around it
  std::string path;           ///< a module's dotted path, "" for the outermost; of an op, its module's
  std::string name;           ///< a module's path from the module around it (an outermost one's type); an op's name
  std::string type;           ///< a module's class; "" for an op
  std::vector<Shape> inputs;  ///< an op's inputs, without undefined ones
  Shape output;               ///< an op's result
  std::vector<std::pair<std::string, Shape>> notes;  ///< values inside an op: {"weights", [B, H, Tq, Tk]}
};

struct TracePrint {
  int depth = 1000;                                  ///< how many levels: 1 is only the outermost modules
  bool times = true;                                 ///< without them the text depends only on the shapes
  std::function<bool(const TraceEvent&)> show = {};  ///< the lines to print; not given: all
};

/// During its lifetime, records every layer and op of this thread, forward and backward; other threads are not seen.
/// Give it a name: const Trace trace; model.loss(x, y).backward(); std::cout << trace. Works for every layer and op,
/// your own included, with gradients and under NoGrad, and changes no bit. Traces nest: the outer one sees what the
/// inner one does.
///
/// FLOPs are what ops report (Op::flops), a multiply-add being two; one that reports nothing counts one per element of
/// its result, in either direction, and a view none. Products are exact: 2 M N K, plus biases, and the same for each
/// gradient; attention counts the pairs that may attend. By convention functions such as exp or gelu cost 1, softmax 5
/// per element, layer norm 7, moving elements 0. Bytes: of the elements that results allocate, not of scratch memory.
/// Kept: what rules keep for backward, weights included; what two rules keep counts twice. An op that calls other ops
/// leaves FLOPs and bytes to them, unless it reports its own. One that records no Tensor (argmax) is not listed; its
/// module's time includes it. Time is wall clock, less that of tracing itself; a module's backward time is that of its
/// ops' rules. The rule of an op recorded before the trace is an event of its own.
class Trace : private Observer {
 public:
  [[nodiscard]] Trace() { watch(); }

  /// In order: a module before its contents, an op when it records.
  const std::vector<TraceEvent>& events() const& { return events_; }
  std::vector<TraceEvent> events() && { return std::move(events_); }
  /// The sums over all calls of the module at `path` ("h.0.attn"; "h" for its whole list), or, without a path, over the
  /// whole trace. Each parameter counts once. Errors: a path that no traced module has.
  TraceCosts total(const std::string& path = "") const;
  /// A tree: one line per module call and per op, then the total. If backward ran, three more columns: bytes kept for
  /// it, its FLOPs and its time.
  void print(std::ostream& out, const TracePrint& options = {}) const;
  friend std::ostream& operator<<(std::ostream& out, const Trace& trace) {
    trace.print(out);
    return out;
  }

 private:
  struct Frame {  // a layer or an op that is open
    const void* scope;
    double start;
    std::size_t event;  // of a layer, or of an op that has recorded
    bool layer = false, recorded = false;
    double inside = 0;  // seconds of what it called
  };
  class Bookkeeping;

  void layer_opened(const LayerScope& scope) override;
  void layer_closed(const LayerScope& scope) noexcept override { close(&scope); }
  void op_opened(const Op& op) override;
  void op_recorded(const OpReport& op) override;
  void op_closed(const Op& op) noexcept override { close(&op); }
  void rule_opened(const Node& node, const Array& dy) override;
  void gradient_sent(const Node& node, std::size_t i, const Array& dx, const Array& dy) override;
  void rule_closed(const Node& node) noexcept override;
  void close(const void* scope) noexcept;
  /// Calls f for an event and then for every module around it.
  template <class F>
  void upwards(std::size_t event, F f) {
    for (std::ptrdiff_t e = static_cast<std::ptrdiff_t>(event); e >= 0; e = around_[static_cast<std::size_t>(e)])
      f(events_[static_cast<std::size_t>(e)]);
  }
  std::size_t append(TraceEvent event);

  double own_seconds_ = 0;  // spent on tracing
  std::vector<TraceEvent> events_;
  std::vector<std::ptrdiff_t> around_;                        // of each event the module around it, or -1
  std::map<std::size_t, std::vector<Parameter>> parameters_;  // of the module events
  std::map<Index, std::size_t> recorded_;                     // events by the ids of their nodes
  std::vector<Frame> open_;
  std::size_t rule_ = 0;  // the event whose rule is running, and since when
  double rule_start_ = 0;
  bool backward_ = false;  // has a rule run?
};

}  // namespace mote
