// bench train: measures the time of a training step against the time of its arithmetic.
#include "engine/base/storage.h"
#include "examples/bench/machine.h"
#include "examples/bench/measure.h"
#include "examples/bench/models.h"
#include "examples/bench/output.h"

namespace bench {

using mote::Index;

void train(int argc, char** argv, Output& out) {
  Choice choice(argc, argv, "S1");
  Common common;
  common.seconds = 3;
  mote::Options options("Measures training steps: forward, backward and AdamW on random ids.");
  choice.add_to(options);
  if (!common.parse(options, argc, argv)) return;
  const std::vector<Case> list = choice.chosen(cases());
  out.table(
      "a step of training. The limit: the products' multiply-adds in registers, and, where a model does not fit\n"
      "in the caches, reading what AdamW reads and writes from memory",
      {"model", "parameters", "batch", "context", "GFLOP", "ms/step", "tokens/s", "GFLOP/s", "of limit", "peak MB"});
  for (const Case& c : list) {
    mote::release_memory();
    mote::reset_peak_memory();
    const double before = static_cast<double>(mote::memory_stats().live_bytes);
    Training training(c);
    const Index parameters = mote::parameter_count(training.model);
    const double bytes = static_cast<double>(parameters) * sizeof(mote::real);
    Work work{step_flops(training.model, c.batch)};
    // The weights, their gradients and the two moments of AdamW may not fit in the last cache. AdamW then reads all
    // four from memory, and writes all but the gradients.
    if (level_of(4 * bytes) == Level::memory) work.bytes = 7 * bytes;
    const Result r = measure([&] { training.step(); }, work, common.seconds);
    const double tokens = static_cast<double>(c.batch * c.config.block_size) / r.seconds;
    const double peak = (static_cast<double>(mote::memory_stats().peak_bytes) - before) * 1e-6;
    out.row({c.name, parameters, c.batch, c.config.block_size, work.flops * 1e-9, r.seconds * 1e3, tokens, r.gflops,
             share(r.share), peak});
  }
  out.note(
      "GFLOP counts linear layers and attention to earlier positions. Peak MB is what arrays and graph need at most.");
}

}  // namespace bench
