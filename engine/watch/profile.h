// Profile, which MOTE_PROFILE=1 installs. It shows where a program's time goes, by op and by class of layer.
#pragma once

#include <iosfwd>
#include <map>
#include <mutex>
#include <string>

#include "engine/watch/tracer.h"

namespace mote {

/// The costs of an op, or of all layers of a class, in all threads together. The seconds of an op exclude the ops
/// inside it. The seconds of a layer exclude the layers inside it.
struct ProfileLine : TraceCosts {
  Index calls = 0;
};

/// The sums of all threads that a Profile observes.
struct ProfileTotals {
  std::mutex mutex;  // held while a field is read or written
  std::map<std::string, ProfileLine> ops, layers;
  double seconds = 0;      ///< the time of profiles that have ended
  double own_seconds = 0;  ///< the part of `seconds` that observing took; it is in no op's or layer's line

  /// Prints a table of ops and a table of layers. Each ends with lines for the time outside any op or layer, for the
  /// time of the profile itself, and for all time of all threads.
  void print(std::ostream& out);
};

/// While it lives, a Profile adds up the work of its thread. The thread's time counts from `start`.
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
