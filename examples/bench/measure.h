// Timing beside the machine's limits: what a piece of work takes, and what its arithmetic or its bytes would take at
// best.
#pragma once

#include <functional>
#include <vector>

namespace bench {

double now();  ///< seconds
double median(std::vector<double> values);

/// What a piece of work has to do. Its limit is the time in which the processor multiplies and adds that often, and
/// then reads that many bytes.
struct Work {
  double flops = 0;  ///< floating-point operations, a multiply-add being two
  double bytes = 0;
  double block = 0;  ///< bytes of the block whose reading, again and again, is the limit for `bytes`; 0: as many
};

/// Medians of several runs, the limits measured between them.
struct Result {
  double seconds = 0;             ///< of one run
  double gflops = 0, gbytes = 0;  ///< the limits: GFLOP/s, and GB/s for a block of that size; 0: not measured
  double share = 0;               ///< the limit's time / the run's, 1 at best
};

/// Runs `body` for about so many seconds, at least five times.
Result measure(const std::function<void()>& body, const Work& work, double seconds);

}  // namespace bench
