// Packing: panels of B, copied or transposed so that tiles read them in order.
#pragma once

#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

template <int... i>
struct Lanes {};
template <int n, int... i>
struct CountLanes : CountLanes<n - 1, n - 1, i...> {};
template <int... i>
struct CountLanes<0, i...> {
  using Type = Lanes<i...>;
};

/// Of two rows of a matrix, swaps every second group of s lanes of `a` with the group before it of `b`.
template <int s, int... i>
MOTE_INLINE void swap_lanes(NativeReal& a, NativeReal& b, Lanes<i...>) {
  constexpr int n = native_lanes;
  const NativeReal upper = __builtin_shufflevector(a, b, ((i & s) ? n + i - s : i)...);
  b = __builtin_shufflevector(a, b, ((i & s) ? n + i : i + s)...);
  a = upper;
}

/// Transposes a square of registers: its four quarters, then the quarters of each (Eklundh, 1972).
template <int s = native_lanes / 2>
MOTE_INLINE void transpose(NativeReal (&x)[native_lanes]) {
#pragma GCC unroll 16
  for (int i = 0; i < native_lanes; ++i)
    if ((i & s) == 0) swap_lanes<s>(x[i], x[i + s], CountLanes<native_lanes>::Type());
  if constexpr (s > 1) transpose<s / 2>(x);
}

/// out[p * width + j] = x[j * column + p] for j < columns and p < depth, at most native_lanes of both, and zeros for
/// other j.
template <bool whole>
MOTE_INLINE void pack_square(const real* x, Index column, Index columns, Index depth, Index width, real* out) {
  NativeReal square[native_lanes];
#pragma GCC unroll 16
  for (int j = 0; j < native_lanes; ++j)
    square[j] = whole         ? Reg::load(x + j * column).v
                : j < columns ? native_load_first(x + j * column, depth)
                              : NativeReal{};
  transpose(square);
#pragma GCC unroll 16
  for (int p = 0; p < native_lanes; ++p)
    if (whole || p < depth) Reg(square[p]).store(out + p * width);
}

/// A panel of columns that are contiguous in memory.
MOTE_INLINE void pack_transposed(const real* x, Index column, Index k, Index columns, Index width, real* out) {
  constexpr Index n = native_lanes;
  for (Index j = 0; j < columns; j += n)
    for (Index p = 0; p < k; p += n) {
      const real* const from = x + j * column + p;
      if (p + n <= k && j + n <= columns)
        pack_square<true>(from, column, n, n, width, out + p * width + j);
      else
        pack_square<false>(from, column, columns - j, k - p, width, out + p * width + j);
    }
}

/// A panel of rows that are contiguous in memory, for all panels at once, because every row may lie in another page;
/// which is also why the processor does not foresee the next rows.
MOTE_INLINE void pack_rows(const real* x, Index row, Index k, Index columns, Index width, real* out) {
  constexpr Index ahead = 8;
  for (Index p = 0; p < k; ++p, x += row, out += width) {
    real* to = out;
    for (Index first = 0; first < columns; first += width, to += width * k)
      for (Index j = 0; j < width && first + j < columns; j += Reg::lanes) {
        const Index left = columns - first - j;
        if (p + ahead < k) __builtin_prefetch(x + ahead * row + first + j);
        const Reg y = left >= Reg::lanes ? Reg::load(x + first + j) : Reg::load_first(x + first + j, left);
        y.store(to + j);
      }
  }
}

/// See kernels.h.
void gemm_pack(const real* x, Index row, Index column, Index k, Index columns, Index width, real* out) {
  if (column == 1) return pack_rows(x, row, k, columns, width, out);
  for (Index first = 0; first < columns; first += width, x += width * column, out += width * k) {
    const Index here = columns - first < width ? columns - first : width;
    if (row == 1) {
      pack_transposed(x, column, k, here, width, out);
    } else {
      for (Index p = 0; p < k; ++p)
        for (Index j = 0; j < here; ++j) out[p * width + j] = x[p * row + j * column];
    }
  }
}

}  // namespace
}  // namespace mote
