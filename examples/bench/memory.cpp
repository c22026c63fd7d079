// bench memory: what a training step needs at most, what its backward keeps, and what it asks of the system.
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <map>

#include "engine/base/storage.h"
#include "examples/bench/choice.h"
#include "examples/bench/measure.h"
#include "nn/trace.h"

namespace bench {
namespace {

using mote::Index;

/// The most memory that this process has had from the system so far, in MB; null where the system does not tell.
mote::Json resident_mb() {
  std::FILE* const file = std::fopen("/proc/self/status", "r");
  if (!file) return {};
  mote::Json found;
  for (char line[256]; std::fgets(line, sizeof line, file);)
    if (long kb = 0; std::sscanf(line, "VmHWM: %ld kB", &kb) == 1) found = static_cast<double>(kb) * 1.024e-3;
  std::fclose(file);
  return found;
}

double mb(Index bytes) { return static_cast<double>(bytes) * 1e-6; }

struct Kept {
  Index ops = 0, bytes = 0;
};

void kept_by_op(const std::string& model, const std::map<std::string, Kept>& kept, Output& out) {
  std::vector<std::pair<std::string, Kept>> sorted(kept.begin(), kept.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  out.table("kept",
            "what the rules of " + model + " keep until backward, by op; an array that two rules keep counts twice",
            {{"op", "op", As::text}, {"ops", "ops", As::integer}, {"kept_mb", "MB"}});
  for (const auto& [name, k] : sorted) out.row({name, k.ops, mb(k.bytes)});
  out.note("");
}

}  // namespace

void memory(int argc, char** argv, Output& out) {
  Choice choice(argc, argv, "S1");
  Common common;
  Options options("Measures the memory of training steps: forward, backward and AdamW on random ids.");
  choice.add_to(options);
  if (!begin(options, argc, argv, common, out)) return;
  const std::vector<Case> list = choice.chosen(cases());
  out.table("memory",
            "memory of training; \"at most\" is of arrays and graph, \"process\" all that this program has had so far",
            {{"model", "model", As::text},
             {"parameters", "parameters", As::integer},
             {"live_mb", "between steps MB"},
             {"peak_mb", "at most MB"},
             {"kept_mb", "kept MB"},
             {"resident_mb", "process MB"},
             {"system_requests", "requests to the system in 3 warm steps", As::integer}});
  std::map<std::string, Kept> kept;
  for (const Case& c : list) {
    mote::release_memory();
    mote::reset_peak_memory();
    const Index before = mote::memory_stats().live_bytes;
    Training training(c);
    const double start = now();
    for (int i = 0; i < 3 || now() < start + common.seconds; ++i) training.step();
    const mote::MemoryStats warm = mote::memory_stats();
    for (int i = 0; i < 3; ++i) training.step();
    const mote::MemoryStats after = mote::memory_stats();
    const mote::Json resident = resident_mb();
    kept.clear();
    const mote::Trace trace;
    training.loss();
    Index parameters = 0;
    for (const mote::Parameter& p : mote::parameters(training.model)) parameters += p.numel();
    for (const mote::TraceEvent& e : trace.events())
      if (e.is_op && e.kept > 0) ++kept[e.name].ops, kept[e.name].bytes += e.kept;
    Index sum = 0;
    for (const auto& [name, k] : kept) sum += k.bytes;
    out.row({c.name, parameters, mb(after.live_bytes - before), mb(after.peak_bytes - before), mb(sum), resident,
             after.system_requests - warm.system_requests});
  }
  out.note("");
  kept_by_op(list.back().name, kept, out);
}

}  // namespace bench
