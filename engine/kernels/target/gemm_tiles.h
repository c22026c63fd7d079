// All tiles of one block of k.
#pragma once

#include "engine/kernels/gemm.h"
#include "engine/kernels/target/gemm_tile.h"

namespace mote {
namespace {

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

/// Where a transposed A is read by narrow tiles, each line of the cache serves several of them; but if its rows are
/// whole pages apart, all those lines fall into one set of the first-level cache and none stays. Then a row of tiles
/// copies its part of A first.
constexpr bool narrow = tile_rows * sizeof(real) <= 32;
constexpr Index page = 4096 / sizeof(real), copied_width = (tile_rows + Reg::lanes - 1) / Reg::lanes * Reg::lanes;

MOTE_INLINE void copy_columns(const real* a, Index a_k, Index rows, Index k, real* out) {
  for (Index r = 0; r < rows; r += Reg::lanes)
    for (Index p = 0; p < k; ++p)
      Reg::load_first(a + p * a_k + r, rows - r < Reg::lanes ? rows - r : Reg::lanes).store(out + p * copied_width + r);
}

/// Rows are split evenly: 16 are 8 + 8 and 64 four times 13 and 12, rather than 14s and a small rest. A row of tiles at
/// a time: its part of A stays in the first-level cache while B passes.
template <bool copies>
MOTE_INLINE void run_tiles(const TileBlock& t) {
  alignas(64) real copied[copies ? copied_width * kernels::sum_block : 1];
  const Index down = tiles_down(t.rows), rows = down == 1 ? t.rows : t.rows / down, taller = t.rows - rows * down;
  const Index width = t.width ? t.width : widths.of[rows + (taller > 0)], panel = t.width ? t.b_panel : width;
  const real* a = t.a;
  real* c = t.c;
  for (Index i = 0; i < down; ++i) {
    const Index here = rows + (i < taller);
    if constexpr (copies) copy_columns(a, t.a_k, here, t.k, copied);
    const real *a_here = copies ? copied : a, *b = t.b;
    const Index a_k = copies ? copied_width : t.a_k;
    const auto& of = tiles.of[here - 1];
    Index j = 0;
    if (here == 1 && t.width == most_registers * Reg::lanes)
      for (; j + 2 * width <= t.columns; j += 2 * width, b += 2 * panel)
        row_by_two_panels(t, a_here, t.a_row, a_k, b, c + j, j);
    if (t.columns >= width) {
      MultiplyTile* const whole = of[width / Reg::lanes - 1][0];
      for (; j + width <= t.columns; j += width, b += panel) whole(t, a_here, t.a_row, a_k, b, c + j, j);
    }
    if (const Index left = t.columns - j; left > 0)
      of[(left - 1) / Reg::lanes][left % Reg::lanes != 0](t, a_here, t.a_row, a_k, b, c + j, j);
    a += here * t.a_row, c += here * t.c_row;
  }
}

void copying_tiles(const TileBlock& t) { run_tiles<true>(t); }

void gemm_tiles(const TileBlock& t) {
  if (narrow && t.a_row == 1 && t.a_k % page == 0 && t.columns >= 8 * Vec::lanes) return copying_tiles(t);
  run_tiles<false>(t);
}

}  // namespace
}  // namespace mote
