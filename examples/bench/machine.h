// What this machine can do at best, measured when asked: multiply-adds, and reading from each cache and from memory.
#pragma once

#include <string>
#include <vector>

#include "engine/base/real.h"

namespace bench {

using mote::Index;
using mote::real;

/// Where data lie, nearest first. A core has an L1 and an L2 of its own; the L3 is everybody's.
enum class Level { l1, l2, l3, memory };
inline std::string text_of(Level level) {
  return level == Level::l1 ? "L1" : level == Level::l2 ? "L2" : level == Level::l3 ? "L3" : "memory";
}

/// The nearest level that holds so many bytes, shared evenly by the caches of threads() cores.
Level level_of(double bytes);
/// A typical number of bytes there: half of the L1 or L2, four times all L2, four times the L3.
Index typical_bytes(Level level);

/// GFLOP/s of threads() threads that do nothing but multiply and add, in about so many seconds. A multiply-add is two.
double measure_multiply_adds(double seconds);

/// GB/s at which threads() threads read a block of so many bytes again and again, each a part of its own, four streams
/// at a time.
class ReadSpeed {
 public:
  explicit ReadSpeed(Index bytes);
  /// In about so many seconds, but at least once after a round that is not counted.
  double measure(double seconds);

 private:
  std::vector<real> memory_;
  real* block_;        // in it, on the border of a cache line
  Index elements_;     // of the block
  double gbytes_ = 0;  // as measured last
};

}  // namespace bench
