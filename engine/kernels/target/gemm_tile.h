// The register tile: a few rows by a few Vecs of C, kept in registers throughout the loop over k.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

// The tile is as large as the registers allow, so that each loaded element of A and B is reused as often as possible.
// AVX-512: 14 x 2 accumulators of 32 registers; AVX2: 6 x 2 of 16; NEON: 6 x 4 of 32.
#if defined(MOTE_TARGET_AVX512) && !defined(MOTE_REAL_DOUBLE)
constexpr int tile_rows = 14, tile_vecs = 2;
#elif defined(MOTE_TARGET_AVX512)
constexpr int tile_rows = 14, tile_vecs = 1;
#elif defined(MOTE_REAL_DOUBLE)
constexpr int tile_rows = 3, tile_vecs = 1;
#else
constexpr int tile_rows = 6, tile_vecs = 1;
#endif
constexpr Index tile_columns = tile_vecs * Vec::lanes;

/// The operands of a tile; kernels.h defines the strides.
struct Tile {
  Index k;
  const real *a, *b;
  Index a_row, a_k, b_k;
  real* c;
  Index c_row, rows, columns;
  kernels::Into into;
};

/// Columns of Vec v that exist.
MOTE_INLINE Index columns_of(const Tile& t, int v) {
  const Index left = t.columns - v * Vec::lanes;
  return left < 0 ? 0 : left < Vec::lanes ? left : Vec::lanes;
}
template <bool edge>
MOTE_INLINE Vec load_columns(const Tile& t, const real* p, int v) {
  if constexpr (!edge) return Vec::load(p + v * Vec::lanes);
  const Index n = columns_of(t, v);
  return Vec::load_first(n ? p + v * Vec::lanes : p, n);
}

/// Each element of C is one accumulator and k only ascends: this alone is why the bits never change.
/// Rows beyond t.rows repeat the last one (so nothing outside A is read) and are not stored.
template <int rows, bool edge>
MOTE_INLINE void multiply(const Tile& t) {
  Vec sum[rows][tile_vecs];
  const real* a[rows];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    a[r] = t.a + (r < t.rows ? r : t.rows - 1) * t.a_row;
    const real* const c = t.c + (r < t.rows ? r : t.rows - 1) * t.c_row;
#pragma GCC unroll 16
    for (int v = 0; v < tile_vecs; ++v)
      sum[r][v] = t.into == kernels::Into::resume ? load_columns<edge>(t, c, v) : Vec::zero();
  }
  for (Index p = 0; p < t.k; ++p) {
    const real* const row = t.b + p * t.b_k;
    Vec b[tile_vecs];
#pragma GCC unroll 16
    for (int v = 0; v < tile_vecs; ++v) b[v] = load_columns<edge>(t, row, v);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const Vec x(a[r][p * t.a_k]);
#pragma GCC unroll 16
      for (int v = 0; v < tile_vecs; ++v) sum[r][v] = fma(x, b[v], sum[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    if (r >= t.rows) break;
    if (t.into == kernels::Into::add)
#pragma GCC unroll 16
      for (int v = 0; v < tile_vecs; ++v) sum[r][v] = load_columns<edge>(t, t.c + r * t.c_row, v) + sum[r][v];
#pragma GCC unroll 16
    for (int v = 0; v < tile_vecs; ++v) {
      if constexpr (edge) {
        if (const Index n = columns_of(t, v)) sum[r][v].store_first(t.c + r * t.c_row + v * Vec::lanes, n);
      } else {
        sum[r][v].store(t.c + r * t.c_row + v * Vec::lanes);
      }
    }
  }
}

template <int rows>
void multiply_rows(const Tile& t) {
  t.columns == tile_columns ? multiply<rows, false>(t) : multiply<rows, true>(t);
}

/// Few rows use a smaller tile: generation multiplies one row at a time and should not pay for fourteen.
void gemm_tile(Index k, const real* a, Index a_row, Index a_k, const real* b, Index b_k, real* c, Index c_row,
               Index rows, Index columns, kernels::Into into) {
  const Tile t{k, a, b, a_row, a_k, b_k, c, c_row, rows, columns, into};
  if (rows == 1) return multiply_rows<1>(t);
  if (rows == 2) return multiply_rows<2>(t);
  if (rows <= 4 && tile_rows > 4) return multiply_rows<4>(t);
  if (rows <= 8 && tile_rows > 8) return multiply_rows<8>(t);
  multiply_rows<tile_rows>(t);
}

}  // namespace
}  // namespace mote
