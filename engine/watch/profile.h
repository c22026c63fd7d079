// Profile, the observer behind MOTE_PROFILE=1: where a program's time goes, by op and by class of layer.
#pragma once

#include <iosfwd>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "engine/watch/observer.h"

namespace mote {

/// What an op, or the layers of a class, cost in all threads together. Seconds exclude ops, or layers, inside.
struct ProfileLine {
  Index calls = 0;
  double seconds = 0, backward_seconds = 0;
  double flops = 0;  ///< forward and backward, as ops report them; as a Trace counts
  double bytes = 0;  ///< forward the inputs and the result, backward dy, what the rule kept, and the gradients it sent
};

/// The sums of all threads that a Profile observes.
struct ProfileTotals {
  std::mutex mutex;  // held while any of these is read or written
  std::map<std::string, ProfileLine> ops, layers;
  double seconds = 0;      ///< of profiles that have ended
  double own_seconds = 0;  ///< of that, what observing took; no line has it

  /// Two tables, each with a line for the time outside it and a sum that is all of the threads' time. Reads the limits
  /// of the machine, which takes some milliseconds.
  void print(std::ostream& out);
};

/// Adds up what its thread does from its construction on. `clock` shows seconds.
class Profile final : public Observer {
 public:
  using Clock = double();
  Profile(ProfileTotals& totals, Clock* clock, double start);
  ~Profile() override;
  bool wants_layers() const override { return false; }  // their classes will do

  void layer_opened(const LayerScope& scope) override;
  void layer_closed(const LayerScope& scope) noexcept override { close(&scope); }
  void op_opened(const Op& op) override;
  void op_recorded(const OpReport& op) override;
  void op_closed(const Op& op) noexcept override { close(&op); }
  void rule_opened(const Node& node, const Array& dy) override;
  void gradient_sent(const Node& node, std::size_t i, const Array& dx, const Array& dy) override;
  void rule_closed(const Node& node) noexcept override { close(&node); }

 private:
  struct Frame {  // an op, a layer or a rule that is open
    const void* scope;
    ProfileLine *op, *layer;  // one of them is null, but for a rule of an op in a layer
    double start;
    double in_ops = 0, in_layers = 0;   // seconds of what is inside it
    const std::string* type = nullptr;  // of a layer: its class
    bool rule = false;
    double not_read_yet = 0;  // bytes that a rule reads unless all it sends are views
  };
  class Bookkeeping;
  void close(const void* scope) noexcept;

  ProfileTotals& totals_;
  Clock* const clock_;
  const double start_;
  double own_seconds_ = 0;
  std::vector<Frame> open_;
};

}  // namespace mote
