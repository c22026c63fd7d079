// Profile, behind MOTE_PROFILE=1: a trace added up by name. Where a program's time goes, by op and by class of layer.
#pragma once

#include <iosfwd>
#include <map>
#include <mutex>
#include <string>

#include "engine/watch/tracer.h"

namespace mote {

/// What an op, or the layers of a class, cost in all threads together. Seconds exclude ops, or layers, inside.
struct ProfileLine : TraceCosts {
  Index calls = 0;
};

/// The sums of all threads that a Profile observes.
struct ProfileTotals {
  std::mutex mutex;  // held while any of these is read or written
  std::map<std::string, ProfileLine> ops, layers;
  double seconds = 0;      ///< of profiles that have ended
  double own_seconds = 0;  ///< of that, what observing took; no line has it

  /// Two tables, each with a line for the time outside it and a sum that is all of the threads' time.
  void print(std::ostream& out);
};

/// Adds up what its thread does from its construction on; its time is counted from `start`.
class Profile final : public Tracer {
 public:
  Profile(ProfileTotals& totals, Clock* clock, double start) : Tracer(clock), totals_(totals), start_(start) {}
  ~Profile() override;

 private:
  void unrecorded(std::string_view op, double seconds) override;
  void all_closed() override;

  ProfileTotals& totals_;
  const double start_;
};

}  // namespace mote
