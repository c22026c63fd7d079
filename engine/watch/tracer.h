// Tracer, which measures every layer and op of its thread: what a Trace lists and what a Profile adds up.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/watch/notes.h"

namespace mote {

/// What an op costs, or all ops inside a module, or in a trace.
struct TraceCosts {
  Index flops = 0;
  Index bytes = 0;           ///< of the elements that the result allocated
  Index moved = 0;           ///< bytes of the inputs and the result
  double seconds = 0;        ///< a module's: from call to return; an op's: excluding the ops inside it
  Index kept = 0;            ///< bytes of the elements that the op's rule keeps until backward
  Index backward_flops = 0;  ///< of the gradients that its rule sent
  Index backward_moved = 0;  ///< bytes of dy, of what the rule kept and of the gradients that it sent
  double backward_seconds = 0;
  Index parameters = 0;  ///< of a module and its children, tied ones once; of an op none

  /// All but parameters, which are counted by who knows their ties.
  void add(const TraceCosts& x);
};

/// One call of a module, or one op that recorded a result.
struct TraceEvent : TraceCosts {
  bool is_op = false;
  bool only_rule = false;      ///< the op was recorded before the trace began
  int depth = 0;               ///< modules around it
  std::ptrdiff_t around = -1;  ///< the event of the module around it; -1: none
  std::string path;            ///< a module's dotted path, "" for the outermost; of an op, its module's
  std::string name;            ///< a module's path from the module around it (an outermost one's type); an op's name
  std::string type;            ///< a module's class; of an op, its module's
  std::vector<Shape> inputs;   ///< an op's inputs, without undefined ones
  Shape output;                ///< an op's result
  std::vector<std::pair<std::string, Shape>> notes;  ///< values inside an op: {"weights", [B, H, Tq, Tk]}
  std::vector<Parameter> weights;                    ///< of a module and its children, tied ones once
};

/// What a steady clock shows.
double steady_seconds();

/// Lists what its thread does: a module before its contents, an op when it records. Its clock stands still while it
/// works itself.
class Tracer : public Observer {
 public:
  using Clock = double();  ///< seconds

 protected:
  explicit Tracer(Clock* clock = steady_seconds) : clock_(clock) { watch(); }

  /// Completes the event of a module, of which only the class is known.
  virtual void describe(TraceEvent&, const LayerScope&) {}
  /// An op has closed that recorded nothing. It is not listed.
  virtual void unrecorded(std::string_view /*op*/, double /*seconds*/) {}
  /// No layer, op or rule is open any more.
  virtual void all_closed() {}

  double now() const { return clock_(); }

  std::vector<TraceEvent> events_;
  bool backward_ = false;   ///< has a rule run?
  double own_seconds_ = 0;  ///< spent on tracing
  /// Forgets all events; only from all_closed().
  void clear() { events_.clear(), recorded_.clear(); }

 private:
  struct Frame {  // a layer or an op that is open
    const void* scope;
    double start;
    std::size_t event = 0;  // of a layer, or of an op that has recorded
    bool layer = false, recorded = false;
    bool composed = false;  // of ops that have recorded
    double inside = 0;      // seconds of what it called
  };
  struct Rule {  // the one that is running
    std::size_t event = 0;
    double start = 0;
    Index not_read_yet = 0;  // bytes that it reads, unless all it sends are views
    bool open = false;
  };

  void event(const Event& e) final;
  void open_layer(const LayerScope& scope, double now);
  void record(const Event& e);
  void open_rule(const Event& e, double now);
  void send(const Event& e);
  void close_rule(double now);
  /// Closes `scope` and whatever is still open inside it.
  void close(const void* scope, std::string_view op, double now);
  std::size_t append(TraceEvent event);
  /// Adds to an event and to every module around it.
  void add_upwards(std::size_t event, const TraceCosts& costs);

  Clock* const clock_;
  std::map<Index, std::size_t> recorded_;  // events by the ids of their nodes
  std::vector<Frame> open_;
  Rule rule_;
};

}  // namespace mote
