// Measures the best that this machine can do: multiply-adds, and reading from each cache and from memory.
#pragma once

#include <string>
#include <vector>

#include "engine/base/real.h"

namespace bench {

using mote::Index;
using mote::real;

/// Where data are stored, nearest first. Each core has an L1 and an L2 of its own. All cores share the L3.
enum class Level { l1, l2, l3, memory };
inline std::string text_of(Level level) {
  return level == Level::l1 ? "L1" : level == Level::l2 ? "L2" : level == Level::l3 ? "L3" : "memory";
}

/// The nearest level that holds this many bytes, if they are spread evenly over the caches of threads() cores.
Level level_of(double bytes);
/// A typical number of bytes with which to measure a level. For L1 and L2 it is half of the caches of threads() cores.
/// For the L3 it is four times the L2 of all these cores, but at most half of the L3. For memory it is four times the
/// L3, but from 64 to 256 MB.
Index typical_bytes(Level level);

/// GFLOP/s of threads() threads that only multiply and add, measured in about this many seconds. A multiply-add is two
/// operations.
double measure_multiply_adds(double seconds);

/// Measures the bandwidth in GB/s when threads() threads read a block of this many bytes again and again. Each thread
/// reads its own part of the block, in four streams at a time.
class ReadSpeed {
 public:
  explicit ReadSpeed(Index bytes);
  /// The bandwidth, measured in about this many seconds. The block is read at least once to warm up, and then at least
  /// once for the measurement.
  double measure(double seconds);

 private:
  std::vector<real> memory_;
  real* block_;        // the block inside memory_, aligned to a cache line
  Index elements_;     // of the block
  double gbytes_ = 0;  // the last measurement
};

}  // namespace bench
