// The register tile: a few rows by a few machine registers of C, kept in registers throughout a block of k.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

using kernels::Into;
using kernels::TileBlock;

// A tile needs at least eight accumulators, because two multiply-adds may begin in each cycle and one takes four; the
// more, the more often each loaded element of A and B is used. All of a tile's accumulators, a row of B and an element
// of A fit the registers: AVX-512 and NEON have 32, AVX2 16. Few rows are multiplied by more registers of B.
#if defined(MOTE_TARGET_AVX512)
constexpr int tile_rows = 14, accumulators = 28, most_registers = 4;
#elif defined(MOTE_TARGET_NEON)
constexpr int tile_rows = 6, accumulators = 24, most_registers = 8;
#elif defined(MOTE_TARGET_AVX2)
constexpr int tile_rows = 6, accumulators = 12, most_registers = 4;
#else
constexpr int tile_rows = 3, accumulators = 12, most_registers = 4;
#endif
constexpr int registers_of(int rows) {
  return accumulators / rows < most_registers ? accumulators / rows : most_registers;
}

/// Register v of a row of elements; the last one of an edge has only `last` lanes.
template <int registers, bool edge>
MOTE_INLINE Reg load_register(const real* p, int v, Index last) {
  return edge && v == registers - 1 ? Reg::load_first(p + v * Reg::lanes, last) : Reg::load(p + v * Reg::lanes);
}

/// One tile: every element of C is one accumulator and k only ascends, which is why the bits never change.
template <int rows, int registers, bool edge>
void multiply_tile(const TileBlock& t, const real* a0, const real* b, real* c, const real* bias, Index columns) {
  const Index last = columns - (registers - 1) * Reg::lanes;
  const auto load = [last](const real* p, int v) __attribute__((always_inline)) {
    return load_register<registers, edge>(p, v, last);
  };
  Reg sum[rows][registers];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < registers; ++v) sum[r][v] = t.into == Into::resume ? load(c + r * t.c_row, v) : Reg::zero();
  // One pointer for every three rows: an address is a pointer plus 0, 1 or 2 strides, and all fit the registers.
  constexpr int pointers = (rows + 2) / 3;
  const real* a[pointers];
#pragma GCC unroll 16
  for (int g = 0; g < pointers; ++g) a[g] = a0 + 3 * g * t.a_row;
  const Index a_row = t.a_row, a_k = t.a_k, b_k = t.b_k;
  for (Index p = t.k; p > 0; --p) {
    Reg y[registers];
#pragma GCC unroll 16
    for (int v = 0; v < registers; ++v) y[v] = load(b, v);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const Reg x(a[r / 3][r % 3 * a_row]);
#pragma GCC unroll 16
      for (int v = 0; v < registers; ++v) sum[r][v] = fma(x, y[v], sum[r][v]);
    }
    b += b_k;
#pragma GCC unroll 16
    for (int g = 0; g < pointers; ++g) {
      a[g] += a_k;
      asm("" : "+r"(a[g]));  // or the compiler makes a pointer of each row, too many for the registers
    }
  }
  const Index c_row = t.c_row;
  if (t.into == Into::add)
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < registers; ++v) sum[r][v] = load(c + r * c_row, v) + sum[r][v];
  if (bias)
#pragma GCC unroll 16
    for (int v = 0; v < registers; ++v) {
      const Reg y = load(bias, v);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) sum[r][v] = sum[r][v] + y;
    }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r, c += c_row)
#pragma GCC unroll 16
    for (int v = 0; v < registers; ++v)
      if (edge && v == registers - 1)
        sum[r][v].store_first(c + v * Reg::lanes, last);
      else
        sum[r][v].store(c + v * Reg::lanes);
}

using MultiplyTile = decltype(multiply_tile<1, 1, false>);
struct Tiles {
  MultiplyTile* of[tile_rows][most_registers][2];  // [rows - 1][registers - 1][edge]
};
template <int rows = tile_rows, int registers = registers_of(rows)>
constexpr void add_tiles(Tiles& all) {
  all.of[rows - 1][registers - 1][0] = multiply_tile<rows, registers, false>;
  all.of[rows - 1][registers - 1][1] = multiply_tile<rows, registers, true>;
  if constexpr (registers > 1)
    add_tiles<rows, registers - 1>(all);
  else if constexpr (rows > 1)
    add_tiles<rows - 1>(all);
}
constexpr Tiles make_tiles() {
  Tiles all{};
  add_tiles(all);
  return all;
}
constexpr Tiles tiles = make_tiles();

constexpr Index tiles_down(Index rows) { return (rows + tile_rows - 1) / tile_rows; }
struct Widths {
  Index of[tile_rows + 1];
};
constexpr Widths widths = [] {
  Widths all{};
  for (int rows = 1; rows <= tile_rows; ++rows) all.of[rows] = registers_of(rows) * Reg::lanes;
  return all;
}();

/// How wide the tiles of so many rows are.
Index gemm_width(Index rows) {
  const Index down = tiles_down(rows);
  return widths.of[down == 1 ? rows : (rows + down - 1) / down];
}

/// All tiles of a block. Its rows are split evenly: 16 are 8 + 8 and 64 four times 13 and 12, rather than 14s and a
/// small rest. A row of tiles at a time: its part of A stays in the first-level cache while B passes.
void gemm_tiles(const TileBlock& t) {
  const Index down = tiles_down(t.rows), rows = down == 1 ? t.rows : t.rows / down, taller = t.rows - rows * down;
  const real* a = t.a;
  real* c = t.c;
  for (Index i = 0; i < down; ++i) {
    const Index here = rows + (i < taller);
    const auto& of = tiles.of[here - 1];
    const real* b = t.b;
    Index j = 0;
    if (t.columns >= t.width) {
      MultiplyTile* const whole = of[t.width / Reg::lanes - 1][0];
      for (; j + t.width <= t.columns; j += t.width, b += t.b_panel)
        whole(t, a, b, c + j, t.bias ? t.bias + j : nullptr, t.width);
    }
    if (const Index left = t.columns - j; left > 0)
      of[(left - 1) / Reg::lanes][left % Reg::lanes != 0](t, a, b, c + j, t.bias ? t.bias + j : nullptr, left);
    a += here * t.a_row, c += here * t.c_row;
  }
}

}  // namespace
}  // namespace mote
