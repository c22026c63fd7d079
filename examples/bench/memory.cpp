// bench memory: what a training step needs at most, what its backward keeps, and what it asks of the system.
#include "engine/base/storage.h"
#include "examples/bench/measure.h"
#include "examples/bench/models.h"
#include "examples/bench/output.h"
#include "nn/trace.h"

namespace bench {

using mote::Index;

void memory(int argc, char** argv, Output& out) {
  Choice choice(argc, argv, "S1");
  Common common;
  Options options("Measures the memory of training steps: forward, backward and AdamW on random ids.");
  choice.add_to(options);
  if (!common.parse(options, argc, argv)) return;
  const std::vector<Case> list = choice.chosen(cases());
  out.table("memory of training, of arrays and graph",
            {"model", "parameters", "between steps MB", "at most MB", "kept MB",
             "requests to the system in 3 warm steps", "ms/step"});
  const auto mb = [](Index bytes) { return static_cast<double>(bytes) * 1e-6; };
  for (const Case& c : list) {
    mote::release_memory();
    mote::reset_peak_memory();
    const Index before = mote::memory_stats().live_bytes;
    Training training(c);
    const double ms = 1e3 * time_of([&] { training.step(); }, common.seconds);
    const mote::MemoryStats warm = mote::memory_stats();
    for (int i = 0; i < 3; ++i) training.step();
    const mote::MemoryStats after = mote::memory_stats();
    const mote::Trace trace;
    training.loss();
    out.row({c.name, mote::parameter_count(training.model), mb(after.live_bytes - before),
             mb(after.peak_bytes - before), mb(trace.total().kept), after.system_requests - warm.system_requests, ms});
  }
  out.note("Kept is what rules keep until backward; an array that two rules keep counts twice.");
}

}  // namespace bench
