// All tiles of one block of k.
#pragma once

#include "engine/kernels/gemm.h"
#include "engine/kernels/target/gemm_pack.h"
#include "engine/kernels/target/gemm_tile.h"

namespace mote {
namespace {

constexpr Index tiles_down(Index rows) { return (rows + tile_rows - 1) / tile_rows; }

struct Widths {
  Index of[tallest + 1];
};
constexpr Widths widths = [] {
  Widths all{};
  for (int rows = 1; rows <= tallest; ++rows) all.of[rows] = registers_of(rows) * Reg::lanes;
  return all;
}();

/// How wide the tiles of so many rows are.
Index gemm_width(Index rows) {
  const Index down = tiles_down(rows);
  return widths.of[down == 1 ? rows : (rows + down - 1) / down];
}

/// Rows are split evenly: 16 are 8 + 8 and 64 four times 13 and 12, rather than 14s and a small rest.
struct RowsOfTiles {
  Index down, rows, taller;  // the first `taller` ones have a row more
  MOTE_INLINE explicit RowsOfTiles(const TileBlock& t)
      : down(!t.a_panels && t.columns <= Reg::lanes ? (t.rows + tallest - 1) / tallest : tiles_down(t.rows)),
        rows(down == 1 ? t.rows : t.rows / down),
        taller(t.rows - rows * down) {}
};

void gemm_tiles(const TileBlock& t);

/// The first row of tiles copies B while it multiplies, which hides the time that B takes to arrive; the others read
/// the copy. That row is as tall as tiles are, or one less, unless there are few rows: then B is copied before.
void copy_and_multiply(TileBlock t) {
  const RowsOfTiles split(t);
  const Index rows = split.rows + (split.taller > 0), width = widths.of[rows];
  const TileBlock from = t;
  t.copy = nullptr, t.b = from.copy, t.width = t.b_k = width, t.b_panel = width * t.k;
  Index j = 0;
  if (rows == tile_rows || rows == tile_rows - 1) {
    MultiplyTile* const tile = rows == tile_rows ? copying_tile<tile_rows> : copying_tile<tile_rows - 1>;
    for (; j + width <= t.columns; j += width) tile(from, t.a, t.a_k, from.b + j, t.c + j, j);
  }
  if (j < t.columns) pack_rows(from.b + j, from.b_k, t.k, t.columns - j, width, from.copy + j * t.k);
  if (j > 0) {
    if (j < t.columns) {
      TileBlock rest = t;
      rest.rows = rows, rest.columns -= j, rest.b += j * t.k, rest.c += j, rest.bias = t.bias ? t.bias + j : nullptr;
      gemm_tiles(rest);
    }
    t.rows -= rows, t.a += rows * t.a_row, t.c += rows * t.c_row;
  }
  if (t.rows > 0) gemm_tiles(t);
}

/// A row of tiles at a time: its part of A stays in the first-level cache while B passes.
void gemm_tiles(const TileBlock& t) {
  if (t.copy) return copy_and_multiply(t);
  if (t.rows <= tallest && t.columns <= Reg::lanes && t.width == 0 && !t.a_panels)  // one tile: nothing to split
    return tiles.of[t.rows - 1][0][t.columns < Reg::lanes](t, t.a, t.a_k, t.b, t.c, 0);
  const RowsOfTiles split(t);
  const Index width = t.width ? t.width : widths.of[split.rows + (split.taller > 0)];
  const Index panel = t.width ? t.b_panel : width;
  const real* a = t.a;
  real* c = t.c;
  for (Index i = 0; i < split.down; ++i) {
    const Index rows = split.rows + (i < split.taller);
    const Index a_k = t.a_panels ? rows : t.a_k;
    const real* b = t.b;
    const auto& of = tiles.of[rows - 1];
    Index j = 0;
    if (rows == 1 && t.width == most_registers * Reg::lanes)
      for (; j + 2 * width <= t.columns; j += 2 * width, b += 2 * panel) row_by_two_panels(t, a, a_k, b, c + j, j);
    if (t.columns >= width) {
      MultiplyTile* const whole = of[width / Reg::lanes - 1][0];
      for (; j + width <= t.columns; j += width, b += panel) whole(t, a, a_k, b, c + j, j);
    }
    if (const Index left = t.columns - j; left > 0)
      of[(left - 1) / Reg::lanes][left % Reg::lanes != 0](t, a, a_k, b, c + j, j);
    a += t.a_panels ? rows * t.k + Reg::lanes : rows * t.a_row;
    c += rows * t.c_row;
  }
}

/// See kernels.h. A few panels at a time, for every k is another page, from which they take whole lines of the cache.
void gemm_pack_rows(TileBlock& t, real* out) {
  constexpr Index together = 8;
  const real* from = t.a;
  t.a = out, t.a_panels = true;
  const RowsOfTiles split(t);
  for (Index first = 0; first < split.down; first += together) {
    const Index last = first + together < split.down ? first + together : split.down;
    const real* next = from;
    real* next_out = out;
    for (Index p = 0; p < t.k; ++p) {
      next = from + p * t.a_k, next_out = out;
      for (Index i = first; i < last; ++i) {
        const Index rows = split.rows + (i < split.taller);
        for (Index r = 0; r < rows; r += Reg::lanes)
          Reg::load_first(next + r, rows - r < Reg::lanes ? rows - r : Reg::lanes).store(next_out + p * rows + r);
        next += rows, next_out += rows * t.k + Reg::lanes;
      }
    }
    from = next - (t.k - 1) * t.a_k, out = next_out;
  }
}

}  // namespace
}  // namespace mote
