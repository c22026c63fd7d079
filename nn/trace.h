// Trace, a scope that sees every layer and op of a forward pass: shapes, parameters, FLOPs, bytes, time.
#pragma once

#include <functional>
#include <iosfwd>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "nn/module.h"

namespace mote {

/// One call of a module, or one op that recorded a result.
struct TraceEvent {
  bool is_op = false;
  int depth = 0;              ///< modules around it
  std::string path;           ///< a module's dotted path, "" for the outermost; of an op, its module's
  std::string name;           ///< a module's path from the module around it (an outermost one's type); an op's name
  std::string type;           ///< a module's class; "" for an op
  std::vector<Shape> inputs;  ///< an op's inputs, undefined ones left out
  Shape output;               ///< an op's result
  std::vector<std::pair<std::string, Shape>> notes;  ///< what an op told of its inside: {"weights", [B, H, Tq, Tk]}
  Index parameters = 0;                              ///< of a module and its children, tied ones once
  Index flops = 0;                                   ///< a module's: those of all ops inside
  Index bytes = 0;                                   ///< the same
  double seconds = 0;  ///< a module's: from call to return; an op's: without the ops inside it
};

struct TraceTotal {
  Index parameters = 0, flops = 0, bytes = 0;
  double seconds = 0;
};

struct TracePrint {
  int depth = 1000;                                  ///< how many levels: 1 is the outermost modules alone
  bool times = true;                                 ///< without them the text depends on the shapes alone
  std::function<bool(const TraceEvent&)> show = {};  ///< the lines to print; not given: all
};

/// From its construction to its end, what this thread does forward is written down; other threads are not seen. It
/// needs a name: const Trace trace; model(x); std::cout << trace. Works for every layer and op, the user's own
/// included, with gradients and under NoGrad, and changes no bit. Traces nest: the outer one sees what the inner one
/// does.
///
/// FLOPs: a multiply-add is two. Products are exact: 2 M N K, biases on top; attention counts the pairs that may
/// attend, 2 d + 2 dv + 6 each (two products, scale, softmax; one more for alibi, one for dropout). The rest is by
/// convention: softmax 5 per number, layer norm 7, RMS norm 4, cross entropy 5, var 4, mse_loss 3, rotary 3, another
/// reduction 1 per number it reads, moving numbers 0, any other op 1 per number of its result, functions such as exp or
/// gelu included. An op of your own says op.flops(n) before record(). Bytes: numbers that results newly hold; a view
/// has none, and scratch memory does not count. An op that calls other ops leaves FLOPs and bytes to them, unless it
/// says its own. One that records no Tensor (argmax) is not listed; its time is in its module's. Time is wall clock,
/// less what tracing itself takes.
class Trace : private Observer {
 public:
  [[nodiscard]] Trace() : outer_(thread_context.observer) { thread_context.observer = this; }
  ~Trace() override {
    if (thread_context.observer == this) thread_context.observer = outer_;
  }
  Trace(const Trace&) = delete;
  Trace& operator=(const Trace&) = delete;
  static void* operator new(std::size_t) = delete;  // a scope: traces end in the reverse of the order they began

  /// In order: a module before what is inside it, an op when it records.
  const std::vector<TraceEvent>& events() const { return events_; }
  /// The sums over all calls of the module at `path` ("h.0.attn"; "h" for all of its list), or, without one, over the
  /// whole trace. Parameters met twice count once. Errors: a path that no traced module has.
  TraceTotal total(const std::string& path = "") const;
  /// A tree: one line per module call and per op, then the total.
  void print(std::ostream& out, const TracePrint& options = {}) const;
  friend std::ostream& operator<<(std::ostream& out, const Trace& trace) {
    trace.print(out);
    return out;
  }

 private:
  struct Frame {  // a layer or an op that is open
    const void* scope;
    double start;
    std::size_t event;                                       // of a layer, or of an op that has recorded
    bool layer = false, recorded = false, composed = false;  // composed: ops inside it recorded
    double inside = 0;                                       // seconds of what it called
    Index flops = -1;
    std::vector<std::pair<std::string, Shape>> notes = {};
  };
  class Bookkeeping;

  void layer_opened(const LayerScope& scope) override;
  void layer_closed(const LayerScope& scope) noexcept override;
  void op_opened(const Op& op) override;
  void op_flops(const Op& op, Index count) override;
  void op_noted(const Op& op, const char* what, const Shape& shape) override;
  void op_recorded(const Op& op, std::span<const Array* const> inputs, const Array& result) override;
  void op_closed(const Op& op) noexcept override;
  Frame* find(const void* scope);
  void close(const void* scope, double now) noexcept;
  int depth() const;

  Observer* outer_;
  double own_seconds_ = 0;  // spent on tracing
  std::vector<TraceEvent> events_;
  std::map<std::size_t, std::vector<Parameter>> parameters_;  // of the module events
  std::vector<Frame> open_;
};

/// What the multi-head attention of "LLM from scratch 1.3" prints while trace_shapes is on, for every attention layer
/// in the trace: four lines, each from the shapes of the ops that ran ("qkv view" only where one projection made all
/// three and gave each as many heads of one width; with several layers each is headed by its path). Errors: no
/// attention was traced.
std::string attention_shapes(const Trace& trace);

}  // namespace mote
