// bench limits: measures the best that this machine can do, on one thread and on all.

#include "engine/base/parallel.h"
#include "examples/bench/machine.h"
#include "examples/bench/measure.h"
#include "examples/bench/output.h"

namespace bench {

void limits(int argc, char** argv, Output& out) {
  Common common;
  mote::Options options("Measures what the other measurements are held to: multiply-adds in registers, and reading.");
  if (!common.parse(options, argc, argv)) return;
  out.table("what this machine does at best, median of 9", {"what", "threads", "MB", "GFLOP/s", "GB/s"});
  const int all = mote::threads();
  for (const int threads : {1, all}) {
    if (threads == 1 && all > 1 && common.threads != 0) continue;
    if (threads != mote::threads()) mote::set_threads(threads);
    std::vector<double> samples;
    for (int i = 0; i < 9; ++i) samples.push_back(measure_multiply_adds(common.seconds / 9));
    out.row({"multiply-adds", threads, {}, median(samples), {}});
    for (const Level level : {Level::l1, Level::l2, Level::l3, Level::memory}) {
      const mote::Index bytes = typical_bytes(level);
      ReadSpeed speed(bytes);
      samples.clear();
      for (int i = 0; i < 9; ++i) samples.push_back(speed.measure(common.seconds / 9));
      out.row({"reading " + text_of(level), threads, static_cast<double>(bytes) * 1e-6, {}, median(samples)});
    }
    if (all == 1) break;
  }
}

}  // namespace bench
