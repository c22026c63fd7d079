// Transposes a square of registers, and rows of a matrix into columns.
#pragma once

#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

/// Cuts two rows a and b of a matrix into groups of s lanes, and swaps groups 1, 3, 5, ... of a with groups 0, 2, 4,
/// ... of b.
template <int s, int... i>
MOTE_INLINE void swap_lanes(NativeReal& a, NativeReal& b, std::integer_sequence<int, i...>) {
  constexpr int n = native_lanes;
  const NativeReal upper = __builtin_shufflevector(a, b, ((i & s) ? n + i - s : i)...);
  b = __builtin_shufflevector(a, b, ((i & s) ? n + i : i + s)...);
  a = upper;
}

/// Transposes a square of registers: swaps its two off-diagonal quarters, then does the same in each quarter (Eklundh,
/// 1972).
template <int s = native_lanes / 2>
MOTE_INLINE void transpose(Reg (&x)[native_lanes]) {
#pragma GCC unroll 16
  for (int i = 0; i < native_lanes; ++i)
    if ((i & s) == 0) swap_lanes<s>(x[i].v, x[i + s].v, LaneNumbers());
  if constexpr (s > 1) transpose<s / 2>(x);
}

/// out[p * width + r] = x[r * row + p] for p < columns and r < native_lanes, the number of lanes of a register. Rows
/// from number `rows` on count as zeros.
MOTE_INLINE void transpose_rows(const real* x, Index row, Index rows, Index columns, Index width, real* out) {
  constexpr Index n = native_lanes;
  for (Index p = 0; p < columns; p += n, x += n, out += n * width) {
    Reg square[n];
    const Index here = columns - p;
    if (here >= n && rows >= n) {
#pragma GCC unroll 16
      for (int r = 0; r < n; ++r) square[r] = Reg::load(x + r * row);
    } else {
#pragma GCC unroll 16
      for (int r = 0; r < n; ++r) square[r] = r < rows ? Reg::load_first(x + r * row, here) : Reg::zero();
    }
    transpose(square);
#pragma GCC unroll 16
    for (int i = 0; i < n; ++i)
      if (i < here) square[i].store(out + i * width);
  }
}

}  // namespace
}  // namespace mote
