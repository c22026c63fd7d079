// Measures a piece of work. The limits of the machine are measured between the runs of the work, so that both are
// measured at the same clock rate.
#include "examples/bench/measure.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "examples/bench/machine.h"

namespace bench {

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

Result measure(const std::function<void()>& body, const Work& work, double seconds) {
  const double block = work.block > 0 ? work.block : work.bytes;
  std::optional<ReadSpeed> reading;
  if (work.bytes > 0) reading.emplace(static_cast<mote::Index>(std::min(block, 1e9)));
  double start = now();
  body();
  const bool brief = now() - start < 0.05;
  if (brief) {
    start = now();
    body();
  }
  const double once = std::max(now() - start, 1e-8);
  const double sample = std::max(0.001, seconds / 100);  // seconds for each measurement of the reading speed
  const int batch = std::max(1, static_cast<int>(std::min(seconds / 15 / once, 1e6)));
  std::vector<double> times, shares, gflops, gbytes;
  const double end = now() + seconds;
  while (now() < end || times.size() < 5) {
    double ideal = 0;
    if (work.flops > 0) {
      gflops.push_back(measure_multiply_adds(0.001));
      ideal += work.flops / gflops.back() * 1e-9;
    }
    if (reading) {
      gbytes.push_back(reading->measure(sample));
      ideal += work.bytes / gbytes.back() * 1e-9;
    }
    if (brief) body();  // brings back the data that measuring the limits evicted from the caches
    start = now();
    for (int i = 0; i < batch; ++i) body();
    times.push_back((now() - start) / batch);
    shares.push_back(ideal / times.back());
  }
  return {median(times), median(gflops), median(gbytes), median(shares)};
}

}  // namespace bench
