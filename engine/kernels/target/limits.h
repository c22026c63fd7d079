// Loops that do nothing but multiply and add in registers, or read memory: what this processor can do at best.
#pragma once

#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

// As many accumulators as registers allow: a multiply-add takes about four cycles, and two or more begin in each.
#if defined(MOTE_TARGET_NEON)
constexpr int free_registers = 24;
#else
constexpr int free_registers = 12;
#endif
constexpr int limit_vecs = free_registers * Reg::lanes >= 16 ? free_registers * Reg::lanes / 16 : 1;
constexpr Index limit_values = limit_vecs * Vec::lanes;

/// x[i] = a b + x[i], `rounds` times eight. The x come from memory, or the compiler might see that all are equal.
void multiply_adds(Index rounds, real a, real b, real* x) {
  const Vec each_a(a), each_b(b);
  Vec sum[limit_vecs];
#pragma GCC unroll 16
  for (int i = 0; i < limit_vecs; ++i) sum[i] = Vec::load(x + i * Vec::lanes);
  for (Index r = 0; r < rounds; ++r) {
#pragma GCC unroll 8
    for (int repeat = 0; repeat < 8; ++repeat) {
#pragma GCC unroll 16
      for (int i = 0; i < limit_vecs; ++i) sum[i] = fma(each_a, each_b, sum[i]);
    }
  }
#pragma GCC unroll 16
  for (int i = 0; i < limit_vecs; ++i) sum[i].store(x + i * Vec::lanes);
}

/// The sum of n elements, but for the last n mod 128, in eight Vecs, so that no addition waits for the one before it.
real read(const real* x, Index n) {
  constexpr int vecs = 8;
  Vec sum[vecs];
#pragma GCC unroll 8
  for (int i = 0; i < vecs; ++i) sum[i] = Vec::zero();
  for (Index begin = 0; begin + vecs * Vec::lanes <= n; begin += vecs * Vec::lanes) {
#pragma GCC unroll 8
    for (int i = 0; i < vecs; ++i) sum[i] = sum[i] + Vec::load(x + begin + i * Vec::lanes);
  }
#pragma GCC unroll 8
  for (int i = 1; i < vecs; ++i) sum[0] = sum[0] + sum[i];
  return sum_tree(sum[0]);
}

}  // namespace
}  // namespace mote
