// Trace, a scope that sees every layer and op of a forward pass: shapes, parameters, FLOPs, bytes, time.
#pragma once

#include <functional>
#include <iosfwd>
#include <string>
#include <vector>

#include "engine/watch/tracer.h"
#include "nn/module.h"

namespace mote {

/// How a Trace prints its lines.
struct TracePrint {
  int depth = 1000;                                  ///< how many levels to print; 1 prints only the outermost modules
  bool times = true;                                 ///< without times the text depends only on the shapes
  std::function<bool(const TraceEvent&)> show = {};  ///< selects the lines to print; not given: all
};

/// During its lifetime, records every layer and op that this thread runs, forward and backward. A Trace must be a named
/// variable:
///
///     const Trace trace;
///     model.loss(x, y).backward();
///     std::cout << trace;
///
/// A Trace works for every layer and op, your own included, with gradients and under NoGrad, and changes no bit of any
/// result. Traces nest: the outer one also records what the inner one records.
///
/// FLOPs come from a table of ops (engine/watch/costs.h). A multiply-add is two FLOPs. An op that is not in the table
/// counts one FLOP per element of its result, in forward and in backward. A view counts none. The count of a matrix
/// product is 2 M N K, and that of the gradient of each factor is the same. A bias counts one FLOP per element of the
/// result. Attention counts only the pairs of a query and a key in which the query may attend to the key. By
/// convention, functions such as exp or gelu cost 1 FLOP per element, softmax 5, layer norm 7, and moving elements 0.
///
/// Bytes are those of the elements that results allocate, without scratch memory. Kept bytes are those that ops keep
/// for backward, weights included. An array that two ops keep counts twice. An op that calls other ops has no bytes of
/// its own, and no FLOPs of its own unless it is in the table. An op that records no Tensor, such as argmax, is not
/// listed, but the time of its module includes it. Time is wall-clock time without the time of tracing itself. The
/// backward time of a module is that of its ops. If an op was recorded before the trace began, its backward is an
/// event of its own.
class Trace : private Tracer {
 public:
  [[nodiscard]] Trace() = default;

  /// All events in order. A module comes before its contents, and an op comes when it records its result.
  const std::vector<TraceEvent>& events() const& { return events_; }
  std::vector<TraceEvent> events() && { return std::move(events_); }
  /// The costs of all calls of the module at `path`, or without a path of the whole trace. "h.0.attn" is one module,
  /// and "h" is a whole list of modules. Each parameter counts once. Errors: a path that no traced module has.
  TraceCosts total(const std::string& path = "") const;
  /// Prints a tree with one line per module call and per op, and then the total. If backward ran, three more columns
  /// show the bytes that were kept for it, its FLOPs and its time.
  void print(std::ostream& out, const TracePrint& options = {}) const;
  friend std::ostream& operator<<(std::ostream& out, const Trace& trace) {
    trace.print(out);
    return out;
  }

 private:
  void describe(TraceEvent& e, const LayerScope& scope) override;
};

}  // namespace mote
