// Timing against the machine's limits: the time of a piece of work, and the least time that its arithmetic and its
// bytes would take.
#pragma once

#include <functional>
#include <vector>

namespace bench {

double now();  ///< the time of a steady clock in seconds
double median(std::vector<double> values);

/// The operations and bytes of a piece of work. The limit of the work is the time in which the processor can do so many
/// multiplications and additions, plus the time in which the processor can read so many bytes.
struct Work {
  double flops = 0;  ///< floating-point operations, a multiply-add being two
  double bytes = 0;
  double block = 0;  ///< size in bytes of the block that is read to measure the reading speed; 0: `bytes`
};

/// The medians of several runs. The limits are measured between the runs.
struct Result {
  double seconds = 0;             ///< of one run
  double gflops = 0, gbytes = 0;  ///< the limits: GFLOP/s, and GB/s of reading the block; 0: not measured
  double share = 0;               ///< time of the limit / time of the run, 1 at best
};

/// Measures `body` for about this many seconds, at least five times.
Result measure(const std::function<void()>& body, const Work& work, double seconds);

}  // namespace bench
