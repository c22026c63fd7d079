// Tracer, which measures every layer and op of its thread. Trace lists the measurements, and Profile adds them up.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "engine/watch/notes.h"

namespace mote {

/// The costs of an op, of all ops inside a module, or of a whole trace.
struct TraceCosts {
  Index flops = 0;
  Index bytes = 0;           ///< bytes of the elements that the result allocated
  Index moved = 0;           ///< bytes of the inputs and the result
  double seconds = 0;        ///< a module's: from call to return; an op's: excluding the ops inside it
  Index kept = 0;            ///< bytes of the elements that the op's rule keeps until backward
  Index backward_flops = 0;  ///< operations of the gradients that the op's rule sent
  Index backward_moved = 0;  ///< bytes of dy, of what the rule kept and of the gradients that it sent
  double backward_seconds = 0;
  Index parameters = 0;  ///< elements of a module's and its children's parameters, tied ones once; 0 for an op

  /// Adds all costs except `parameters`, because tied parameters must be counted only once.
  void add(const TraceCosts& x);
};

/// One call of a module, or one op that recorded a result.
struct TraceEvent : TraceCosts {
  bool is_op = false;
  bool only_rule = false;      ///< the op was recorded before the trace began
  int depth = 0;               ///< the number of modules around it
  std::ptrdiff_t around = -1;  ///< the position of the event of the module around it, or -1
  std::string path;            ///< a module's dotted path, "" if outermost; for an op, the path of its module
  std::string name;            ///< an op's name; a module's path from the module around it, or its type if outermost
  std::string type;            ///< a module's class; for an op, the class of its module
  std::vector<Shape> inputs;   ///< the shapes of an op's inputs, without undefined ones
  Shape output;                ///< the shape of an op's result
  std::vector<std::pair<std::string, Shape>> notes;  ///< the shapes of values inside an op: {"weights", [B, H, Tq, Tk]}
  std::vector<Parameter> weights;                    ///< the parameters of a module and its children, tied ones once
};

/// The seconds that a steady clock shows.
double steady_seconds();

/// Lists the modules and ops that its thread runs. A module comes before its contents, and an op is listed when it
/// records its result. The time that the Tracer itself takes is not counted.
class Tracer : public Observer {
 public:
  using Clock = double();  ///< seconds

 protected:
  explicit Tracer(Clock* clock = steady_seconds) : clock_(clock) { watch(); }

  /// Completes the event of a module. Before this call only the module's class is set.
  virtual void describe(TraceEvent&, const LayerScope&) {}
  /// Called when an op closes without having recorded a result. Such an op is not listed.
  virtual void unrecorded(std::string_view /*op*/, double /*seconds*/) {}
  /// Called when no layer, op or rule is open any more.
  virtual void all_closed() {}

  double now() const { return clock_(); }

  std::vector<TraceEvent> events_;
  bool backward_ = false;   ///< whether a rule has run
  double own_seconds_ = 0;  ///< spent on tracing
  /// Removes all events. May be called only from all_closed().
  void clear() { events_.clear(), recorded_.clear(); }

 private:
  struct Frame {  // a layer or an op that is open
    const void* scope;
    double start;
    std::size_t event = 0;  // position of the event of a layer, or of an op that has recorded
    bool layer = false, recorded = false;
    bool composed = false;  // an op made of ops that have recorded
    double inside = 0;      // seconds of the layers and ops inside
  };
  struct Rule {  // the rule that is running
    std::size_t event = 0;
    double start = 0;
    Index not_read_yet = 0;  // bytes that the rule reads; counted once it sends a gradient that is not a view of dy
    bool open = false;
  };

  void event(const Event& e) final;
  void open_layer(const LayerScope& scope, double now);
  void record(const Event& e);
  void open_rule(const Event& e, double now);
  void send(const Event& e);
  void close_rule(double now);
  /// Closes the layer or op `scope`, and all layers and ops that are still open inside it.
  void close(const void* scope, std::string_view op, double now);
  std::size_t append(TraceEvent event);
  /// Adds costs to an event and to every module around it.
  void add_upwards(std::size_t event, const TraceCosts& costs);

  Clock* const clock_;
  std::map<Index, std::size_t> recorded_;  // positions of events by the ids of their nodes
  std::vector<Frame> open_;
  Rule rule_;
};

}  // namespace mote
