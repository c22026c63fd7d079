// One block of a matrix product: packing and tiles. A tile is a part of C, a few rows high and a few registers wide,
// that stays in registers throughout a block of k.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/transpose.h"

namespace mote {
namespace {

using kernels::TileBlock;

// Packing copies or transposes panels of A or B so that tiles read them in order.

/// Packs panels from rows that are contiguous in memory. All panels are filled together, row by row, because every
/// row may lie in another page. For the same reason the processor does not prefetch the next rows by itself, so this
/// function prefetches them.
MOTE_INLINE void pack_rows(const real* x, Index row, Index k, Index columns, Index width, Index panel, real* out) {
  constexpr Index ahead = 8;
  for (Index p = 0; p < k; ++p, x += row, out += width) {
    real* to = out;
    for (Index first = 0; first < columns; first += width, to += panel)
      for (Index j = 0; j < width && first + j < columns; j += Reg::lanes) {
        const Index left = columns - first - j;
        if (p + ahead < k) __builtin_prefetch(x + ahead * row + first + j);
        const Reg y = left >= Reg::lanes ? Reg::load(x + first + j) : Reg::load_first(x + first + j, left);
        y.store(to + j);
      }
  }
}

/// Packs x into panels, as kernels.h describes. The last register of a row may be stored partly beyond the panel's
/// width. The elements that it overwrites are written later, so nothing is lost.
void gemm_pack(const real* x, Index row, Index column, Index k, Index columns, Index width, Index panel, real* out) {
  if (column == 1) return pack_rows(x, row, k, columns, width, panel, out);
  for (Index first = 0; first < columns; first += width, x += width * column, out += panel) {
    const Index here = columns - first < width ? columns - first : width;
    if (row == 1) {
      for (Index j = (here - 1) / Reg::lanes * Reg::lanes; j >= 0; j -= Reg::lanes)
        transpose_rows(x + j * column, column, here - j, k, width, out + j);
    } else {
      for (Index p = 0; p < k; ++p)
        for (Index j = 0; j < here; ++j) out[p * width + j] = x[p * row + j * column];
    }
  }
}

// Tiles.

// A tile needs at least eight accumulators, because two multiply-adds may begin in each cycle and each takes four
// cycles. With more accumulators, each loaded element of A and B is used more often. The accumulators of a tile, a row
// of B and an element of A must fit the registers together. Each lanes file gives the height and width of the largest
// tile, tile_rows and tile_registers. Tiles of fewer rows are wider.
constexpr int accumulators = tile_rows * tile_registers, most_registers = register_count == 16 ? 4 : 2 * tile_registers;
constexpr int registers_of(int rows) {
  return accumulators / rows < most_registers ? accumulators / rows : most_registers;
}

template <int rows, int registers, class Body>
MOTE_INLINE void for_registers(const Body& body) {
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < registers; ++v) body(r, v);
}

/// sum += A B over all k, for `rows` rows of A from a0 on and the columns of B that fill `registers` registers.
/// load(b, v) loads the v-th register of a row of B. If the tile `copies`, that register is also stored in `copy`.
template <int rows, int registers, bool copies, class Load>
MOTE_INLINE void multiply_add(const TileBlock& t, const real* a0, Index a_k, const real* b, real* copy,
                              const Load& load, Reg (&sum)[rows][registers]) {
  // One pointer serves three rows, whose addresses are the pointer plus 0, 1 or 2 strides. So all pointers fit the
  // registers.
  constexpr int pointers = (rows + 2) / 3;
  // Hardware does not prefetch the next rows of B, so a tile that copies prefetches B this many rows ahead. A tile
  // takes a few hundred cycles for 48 rows, which is about the latency of main memory.
  constexpr Index rows_ahead = 48;
  const Index a_row = t.a_row, b_k = t.b_k;
  const real* a[pointers];
#pragma GCC unroll 16
  for (int g = 0; g < pointers; ++g) a[g] = a0 + 3 * g * a_row;
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
    if constexpr (copies) {
#pragma GCC unroll 16
      for (int v = 0; v < registers; ++v, copy += Reg::lanes) {
        __builtin_prefetch(b + rows_ahead * b_k + v * Reg::lanes);
        y[v].store(copy);
      }
    }
    b += b_k;
#pragma GCC unroll 16
    for (int g = 0; g < pointers; ++g) {
      a[g] += a_k;
      asm("" : "+r"(a[g]));  // otherwise the compiler keeps a pointer per row, too many for the registers
    }
  }
}

/// Computes the tile of C that begins at `c`, in column j. Every element of C has its own accumulator and k only
/// ascends, so the bits do not depend on the shape of the tile. At an edge, only some lanes of the last register are
/// used. The tile may be as wide as several panels of B, of `panel` registers each. A tile that `copies` stores the B
/// that it loads as a packed panel.
template <int rows, int registers, bool edge, int panel = registers, bool copies = false>
void multiply_tile(const TileBlock& t, const real* a, Index a_k, const real* b, real* c, Index j) {
  const Index last = t.columns - j - (registers - 1) * Reg::lanes, c_row = t.c_row;
  const auto load = [last](const real* p, int v) __attribute__((always_inline)) {
    return edge && v == registers - 1 ? Reg::load_first(p + v * Reg::lanes, last) : Reg::load(p + v * Reg::lanes);
  };
  const auto load_b = [&](const real* p, int v) __attribute__((always_inline)) {
    return panel < registers ? Reg::load(p + v / panel * t.b_panel + v % panel * Reg::lanes) : load(p, v);
  };
  Reg sum[rows][registers];
  for_registers<rows, registers>([&](int r, int v) __attribute__((always_inline)) { sum[r][v] = Reg::zero(); });
  multiply_add<rows, registers, copies>(t, a, a_k, b, copies ? t.copy + j * t.k : nullptr, load_b, sum);
  if (t.add) {
    Index row = c_row;
    asm("" : "+r"(c), "+r"(row));  // otherwise the compiler computes these addresses even if t.add is false
    for_registers<rows, registers>([&](int r, int v) __attribute__((always_inline)) {
      sum[r][v] = load(c + r * row, v) + sum[r][v];
    });
  }
  if (t.bias) {
    Reg bias[registers];
    for_registers<1, registers>([&](int, int v) __attribute__((always_inline)) { bias[v] = load(t.bias + j, v); });
    for_registers<rows, registers>([&](int r, int v)
                                       __attribute__((always_inline)) { sum[r][v] = sum[r][v] + bias[v]; });
  }
  for_registers<rows, registers>([&](int r, int v) __attribute__((always_inline)) {
    real* const to = c + r * c_row + v * Reg::lanes;
    edge&& v == registers - 1 ? sum[r][v].store_first(to, last) : sum[r][v].store(to);
  });
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
constexpr Tiles tiles = [] {
  Tiles all{};
  add_tiles(all);
  return all;
}();

/// A tile of one row by two panels. The time of a single row is the time of reading B, and two streams are read faster
/// than one.
constexpr MultiplyTile* row_by_two_panels = multiply_tile<1, 2 * most_registers, false, most_registers>;

template <int rows>
constexpr MultiplyTile* copying_tile = multiply_tile<rows, registers_of(rows), false, registers_of(rows), true>;

constexpr Index tiles_down(Index rows) { return (rows + tile_rows - 1) / tile_rows; }

struct Widths {
  Index of[tile_rows + 1];
};
constexpr Widths widths = [] {
  Widths all{};
  for (int rows = 1; rows <= tile_rows; ++rows) all.of[rows] = registers_of(rows) * Reg::lanes;
  return all;
}();

/// The number of columns of a tile in a product of `rows` rows.
Index gemm_width(Index rows) {
  const Index down = tiles_down(rows);
  return widths.of[down == 1 ? rows : (rows + down - 1) / down];
}

/// Splits rows evenly over rows of tiles. With at most 14 rows per tile, 16 rows become 8 + 8, and 64 rows become four
/// times 13 and once 12.
struct RowsOfTiles {
  Index down, rows, taller;  // the first `taller` rows of tiles have one row more
  MOTE_INLINE explicit RowsOfTiles(Index all) : down(tiles_down(all)), rows(all / down), taller(all - rows * down) {}
};

/// Computes one row of tiles at a time, so that its part of A stays in the L1 cache while all of B is read.
void multiply_rows_of_tiles(const TileBlock& t) {
  const RowsOfTiles split(t.rows);
  const Index width = t.width ? t.width : widths.of[split.rows + (split.taller > 0)];
  const Index panel = t.width ? t.b_panel : width;
  const real* a = t.a;
  real* c = t.c;
  for (Index i = 0; i < split.down; ++i) {
    const Index rows = split.rows + (i < split.taller);
    const Index a_k = t.a_panel ? rows : t.a_k;
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
    a += t.a_panel ? t.a_panel : rows * t.a_row;
    c += rows * t.c_row;
  }
}

/// The first row of tiles copies B while it multiplies, which hides the latency of reading B. The other rows of tiles
/// read the copy. Only whole tiles of the two largest heights can copy. The columns outside such tiles are packed
/// before they are multiplied.
void copy_and_multiply(const TileBlock& t) {
  const RowsOfTiles split(t.rows);
  const Index rows = split.rows + (split.taller > 0), width = widths.of[rows], depth = t.k;
  Index copied = 0;
  if (rows == tile_rows || rows == tile_rows - 1) {
    MultiplyTile* const tile = rows == tile_rows ? copying_tile<tile_rows> : copying_tile<tile_rows - 1>;
    for (; copied + width <= t.columns; copied += width) tile(t, t.a, t.a_k, t.b + copied, t.c + copied, copied);
  }
  const Index left = t.columns - copied;
  if (left > 0) pack_rows(t.b + copied, t.b_k, depth, left, width, width * depth, t.copy + copied * depth);
  TileBlock others = t;
  others.copy = nullptr;
  others.width = others.b_k = width;
  others.b_panel = width * depth;
  others.b = t.copy;
  if (copied > 0 && left > 0) {
    TileBlock rest = others;
    rest.rows = rows;
    rest.columns = left;
    rest.b += copied * depth;
    rest.c += copied;
    rest.bias = t.bias ? t.bias + copied : nullptr;
    multiply_rows_of_tiles(rest);
  }
  const Index done = copied > 0 ? rows : 0;
  others.rows -= done;
  others.a += done * t.a_row;
  others.c += done * t.c_row;
  if (others.rows > 0) multiply_rows_of_tiles(others);
}

/// See kernels.h.
void gemm_tiles(const TileBlock& t) { t.copy ? copy_and_multiply(t) : multiply_rows_of_tiles(t); }

/// See kernels.h.
void gemm_pack_rows(TileBlock& t, real* out) {
  const RowsOfTiles split(t.rows);
  const Index tall = split.taller * (split.rows + 1);
  const Index panel = (split.rows + 1) * t.k + 16;  // + 16, so that not all panels begin in the same cache set
  gemm_pack(t.a, t.a_k, t.a_row, t.k, tall, split.rows + 1, panel, out);
  gemm_pack(t.a + tall * t.a_row, t.a_k, t.a_row, t.k, t.rows - tall, split.rows, panel, out + split.taller * panel);
  t.a = out;
  t.a_row = 1;
  t.a_panel = panel;
}

}  // namespace
}  // namespace mote
