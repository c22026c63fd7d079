// The peak loops of one instruction set. CMake compiles this file once for each, with MOTE_TARGET_NAME set.
#include "engine/kernels/target/simd.h"

#include "examples/bench/peak.h"

namespace bench {
namespace {

using namespace mote;

// As many accumulators as registers allow, because a multiply-add takes about four cycles and two or more start in
// each cycle.
constexpr int free_registers = register_count == 16 ? 12 : 24;
constexpr int peak_vecs = free_registers * Reg::lanes >= 16 ? free_registers * Reg::lanes / 16 : 1;
constexpr Index peak_values = peak_vecs * Vec::lanes;

/// Sets x[i] to a b + x[i], 8 * rounds times. Each x[i] is loaded from memory. Otherwise the compiler might see that
/// all are equal, and compute only one of them.
void multiply_adds(Index rounds, real a, real b, real* x) {
  const Vec each_a(a), each_b(b);
  Vec sum[peak_vecs];
#pragma GCC unroll 24
  for (int i = 0; i < peak_vecs; ++i) sum[i] = Vec::load(x + i * Vec::lanes);
  for (Index r = 0; r < rounds; ++r) {
#pragma GCC unroll 8
    for (int repeat = 0; repeat < 8; ++repeat) {
#pragma GCC unroll 24
      for (int i = 0; i < peak_vecs; ++i) sum[i] = fma(each_a, each_b, sum[i]);
    }
  }
#pragma GCC unroll 24
  for (int i = 0; i < peak_vecs; ++i) sum[i].store(x + i * Vec::lanes);
}

/// Returns the sum of n elements. The loop takes 128 elements at a time, so the last n mod 128 are left out. Four
/// quarters are summed side by side, because several streams are read faster than one. Each quarter has several sums,
/// so that no addition waits for the one before it.
real read(const real* x, Index n) {
  constexpr int streams = 4, vecs = 2;
  const Index quarter = n / (streams * vecs * Vec::lanes) * (vecs * Vec::lanes);
  Vec sum[streams][vecs];
#pragma GCC unroll 4
  for (int s = 0; s < streams; ++s) sum[s][0] = sum[s][1] = Vec::zero();
  for (Index begin = 0; begin < quarter; begin += vecs * Vec::lanes) {
#pragma GCC unroll 4
    for (int s = 0; s < streams; ++s)
#pragma GCC unroll 2
      for (int v = 0; v < vecs; ++v) sum[s][v] = sum[s][v] + Vec::load(x + s * quarter + begin + v * Vec::lanes);
  }
#pragma GCC unroll 4
  for (int s = 0; s < streams; ++s) sum[0][0] = s > 0 ? sum[0][0] + sum[s][0] + sum[s][1] : sum[0][0] + sum[0][1];
  return sum_tree(sum[0][0]);
}

}  // namespace

#define BENCH_JOIN(a, b) a##b
#define BENCH_NAME(a, b) BENCH_JOIN(a, b)
#define BENCH_QUOTE(name) #name
#define BENCH_TEXT(name) BENCH_QUOTE(name)

const PeakLoops BENCH_NAME(peak_, MOTE_TARGET_NAME){BENCH_TEXT(MOTE_TARGET_NAME), multiply_adds, peak_values, read};

}  // namespace bench
