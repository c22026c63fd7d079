// Trace, a scope that sees every layer and op of a forward pass: shapes, parameters, FLOPs, bytes, time.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "engine/watch/tracer.h"
#include "nn/module.h"

namespace mote {

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
/// FLOPs are those of a table (engine/watch/costs.h). A multiply-add is two. An op that is not in the table counts one
/// per element of its result, in either direction. A view counts none. Products are exact: 2 M N K, plus biases, and
/// the same for each gradient; attention counts the pairs that may attend. By convention functions such as exp or gelu
/// cost 1, softmax 5 per element, layer norm 7, moving elements 0. Bytes: of the elements that results allocate, not of
/// scratch memory. Kept: what rules keep for backward, weights included; what two rules keep counts twice. An op that
/// calls other ops leaves bytes to them, and FLOPs unless it has a row of its own. One that records no Tensor (argmax)
/// is not listed; its module's time includes it. Time is wall clock, less that of tracing itself; a module's backward
/// time is that of its ops' rules. The rule of an op recorded before the trace is an event of its own.
class Trace : private Tracer {
 public:
  [[nodiscard]] Trace() = default;

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
  void describe(TraceEvent& e, const LayerScope& scope) override;
};

}  // namespace mote
