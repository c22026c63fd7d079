// Measures the machine with parallel loops whose bodies only multiply and add, or only read.
#include "examples/bench/machine.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>

#ifdef __unix__
#include <unistd.h>
#endif

#include "engine/base/check.h"
#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"
#include "examples/bench/measure.h"
#include "examples/bench/peak.h"

namespace bench {
namespace {

using mote::parallel_for;
using mote::threads;

/// The loops of peak.h for the instruction set that mote's kernels use.
const PeakLoops& peak_loops() {
  const std::string name = mote::kernels::table().name;
#if defined(MOTE_WITH_AVX2)
  if (name == "avx2") return peak_avx2;
#endif
#if defined(MOTE_WITH_AVX512)
  if (name == "avx512") return peak_avx512;
#endif
#if defined(MOTE_WITH_NEON)
  if (name == "neon") return peak_neon;
#endif
#if defined(MOTE_WITH_PORTABLE)
  if (name == "portable") return peak_portable;
#endif
  throw mote::Error("bench has no loops for " + name);
}

// The sizes of L1, L2 and L3 in bytes, as the system reports them, or common sizes if the system does not.
#ifdef _SC_LEVEL1_DCACHE_SIZE
Index setting(int name, Index otherwise) {
  const long bytes = sysconf(name);
  return bytes > 0 ? Index(bytes) : otherwise;
}
const std::array<Index, 3> caches{setting(_SC_LEVEL1_DCACHE_SIZE, 32 << 10), setting(_SC_LEVEL2_CACHE_SIZE, 1 << 20),
                                  setting(_SC_LEVEL3_CACHE_SIZE, 16 << 20)};
#else
constexpr std::array<Index, 3> caches{32 << 10, 1 << 20, 16 << 20};
#endif

}  // namespace

Level level_of(double bytes) {
  const double part = bytes / threads();
  if (part <= static_cast<double>(caches[0])) return Level::l1;
  if (part <= static_cast<double>(caches[1])) return Level::l2;
  return bytes <= static_cast<double>(caches[2]) ? Level::l3 : Level::memory;
}

Index typical_bytes(Level level) {
  // Some machines report the L3 of many cores as one huge cache. Even on such machines, 256 MB are enough to measure
  // memory.
  if (level == Level::memory) return std::clamp<Index>(4 * caches[2], Index(64) << 20, Index(256) << 20);
  if (level == Level::l3) return std::min<Index>(caches[2] / 2, 4 * threads() * caches[1]);
  return threads() * caches[static_cast<std::size_t>(level)] / 2;
}

double measure_multiply_adds(double seconds) {
  const PeakLoops& loops = peak_loops();
  const Index values = loops.values;
  const auto run = [&](Index chunks, Index rounds) {
    const double start = now();
    parallel_for(chunks, 1, [&](Index begin, Index end) {
      std::vector<real> x(static_cast<std::size_t>(values), real(1));
      for (Index c = begin; c < end; ++c) loops.multiply_adds(rounds, real(0.5), real(0.25), x.data());
    });
    return now() - start;
  };
  constexpr Index trial = 200;
  // The work is cut into many small chunks, so that all threads end at nearly the same time.
  const Index chunks = threads() == 1 ? 1 : 64 * threads();
  const double once = std::max(1e-7, std::min(run(1, trial), run(1, trial)));
  const double wanted = seconds / 3 * threads() / once * static_cast<double>(trial) / static_cast<double>(chunks);
  const Index rounds = std::max<Index>(trial, static_cast<Index>(wanted));
  const double took = std::min({run(chunks, rounds), run(chunks, rounds), run(chunks, rounds)});
  return 16 * static_cast<double>(values) * static_cast<double>(rounds) * static_cast<double>(chunks) / took * 1e-9;
}

ReadSpeed::ReadSpeed(Index bytes) {
  constexpr Index line = 64 / sizeof(real);
  const Index step = 128 * threads();  // elements that the loop reads at once
  elements_ = std::max<Index>(1, bytes / static_cast<Index>(sizeof(real)) / step) * step;
  memory_.resize(static_cast<std::size_t>(elements_ + line), real(1));
  const auto address = reinterpret_cast<std::uintptr_t>(memory_.data()) / sizeof(real);
  block_ = memory_.data() + (line - static_cast<Index>(address) % line);
}

double ReadSpeed::measure(double seconds) {
  const double bytes = static_cast<double>(elements_) * sizeof(real);
  const Index parts = threads(), size = elements_ / parts;
  const auto run = [&](Index rounds) {
    std::vector<real> sums(static_cast<std::size_t>(parts) * 16);
    const PeakLoops& loops = peak_loops();
    const double start = now();
    parallel_for(parts, 1, [&](Index begin, Index end) {
      for (Index p = begin; p < end; ++p)
        for (Index r = 0; r < rounds; ++r)
          sums[static_cast<std::size_t>(p) * 16] += loops.read(block_ + p * size, size);
    });
    return static_cast<double>(rounds) * bytes / std::max(1e-9, now() - start) * 1e-9;
  };
  if (gbytes_ == 0) gbytes_ = run(1);
  // The first of two equal measurements is not used. It brings back the data that other work has evicted from the
  // caches.
  const Index rounds = std::max<Index>(1, static_cast<Index>(seconds / 2 * gbytes_ * 1e9 / bytes));
  gbytes_ = run(rounds);
  return gbytes_ = run(rounds);
}

}  // namespace bench
