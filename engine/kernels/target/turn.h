// turn, which transposes up to 16 rows: they become the lanes of a Vec.
#pragma once

#include "engine/kernels/target/rows.h"

namespace mote {
namespace {

/// low, high = a[0] b[0] a[1] b[1] ...: its first and its second half.
template <class V>
MOTE_INLINE void interleave(V a, V b, V& low, V& high) {
  if constexpr (sizeof(V) == 16 * sizeof(real)) {
    low = __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
    high = __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
  } else if constexpr (sizeof(V) == 8 * sizeof(real)) {
    low = __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
    high = __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
  } else if constexpr (sizeof(V) == 4 * sizeof(real)) {
    low = __builtin_shufflevector(a, b, 0, 4, 1, 5), high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  } else {
    low = __builtin_shufflevector(a, b, 0, 2), high = __builtin_shufflevector(a, b, 1, 3);
  }
}

/// Transposes a square: row i was m[i], and is now column i. Row i and row i + half are interleaved, log2(lanes) times.
MOTE_INLINE void transpose(Reg (&m)[Reg::lanes]) {
#pragma GCC unroll 4
  for (int stage = 1; stage < Reg::lanes; stage *= 2) {
    Reg t[Reg::lanes];
#pragma GCC unroll 16
    for (int i = 0; i < Reg::lanes / 2; ++i) interleave(m[i].v, m[i + Reg::lanes / 2].v, t[2 * i].v, t[2 * i + 1].v);
#pragma GCC unroll 16
    for (int i = 0; i < Reg::lanes; ++i) m[i] = t[i];
  }
}

/// out[16 c + r] = x[r * row + c] for r < rows <= 16, 0 for the other lanes.
MOTE_INLINE void turn(const real* x, Index row, Index rows, Index width, real* out) {
  constexpr int lanes = Reg::lanes;
  for (Index r0 = 0; r0 < 16; r0 += lanes)
    for (Index c0 = 0; c0 < width; c0 += lanes) {
      const Index n = width - c0 < lanes ? width - c0 : lanes;
      Reg m[lanes];
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i) {
        const real* const from = x + (r0 + i) * row + c0;
        m[i] = r0 + i >= rows ? Reg::zero() : n == lanes ? Reg::load(from) : Reg::load_first(from, n);
      }
      transpose(m);
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i)
        if (i < n) m[i].store(out + (c0 + i) * 16 + r0);
    }
}

}  // namespace
}  // namespace mote
