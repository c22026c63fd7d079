// One block of a matrix product: packing, and tiles, which are a few rows by a few machine registers of C that stay in
// registers throughout a block of k.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/transpose.h"

namespace mote {
namespace {

using kernels::TileBlock;

// Packing: panels of B, or of A, copied or transposed so that tiles read them in order.

/// Panels of rows that are contiguous in memory: all of them row by row, because every row may lie in another page;
/// which is also why the processor does not foresee the next rows.
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

/// See kernels.h. Where a register is stored beyond its panel's width, what lies there is written after it.
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

// A tile needs at least eight accumulators, because two multiply-adds may begin in each cycle and one takes four; the
// more, the more often each loaded element of A and B is used. All of a tile's accumulators, a row of B and an element
// of A fit the registers: each lanes file says how tall and wide the largest tile is. Fewer rows are multiplied by more
// registers of B.
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

/// sum += the products of `rows` rows of A, from a0 on, and rows of B of `registers` registers, over all k: `load(b,
/// v)` loads the v-th register of a row, which is stored in `copy` if the tile `copies`.
template <int rows, int registers, bool copies, class Load>
MOTE_INLINE void multiply_add(const TileBlock& t, const real* a0, Index a_k, const real* b, real* copy,
                              const Load& load, Reg (&sum)[rows][registers]) {
  // One pointer for every three rows: an address is a pointer plus 0, 1 or 2 strides, and all fit the registers.
  constexpr int pointers = (rows + 2) / 3;
  // No hardware looks ahead from row to row of B. As many rows take a tile a few hundred cycles, as long as main
  // memory.
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
      asm("" : "+r"(a[g]));  // or the compiler makes a pointer of each row, too many for the registers
    }
  }
}

/// The tile at `c`, from column j on: every element of C is one accumulator and k only ascends, which is why the bits
/// never change. At an edge the last register has some lanes only. The tile may be as wide as several panels of B, of
/// `panel` registers each; one that `copies` stores the B that it loads as a panel.
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
    asm("" : "+r"(c), "+r"(row));  // or tiles that do not add compute its addresses, too
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

/// One row by two panels. A single row is as fast as B is read, and two streams are read faster than one.
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

/// How wide the tiles of so many rows are.
Index gemm_width(Index rows) {
  const Index down = tiles_down(rows);
  return widths.of[down == 1 ? rows : (rows + down - 1) / down];
}

/// Rows are split evenly: 16 are 8 + 8 and 64 four times 13 and 12, rather than 14s and a small rest.
struct RowsOfTiles {
  Index down, rows, taller;  // the first `taller` ones have a row more
  MOTE_INLINE explicit RowsOfTiles(Index all) : down(tiles_down(all)), rows(all / down), taller(all - rows * down) {}
};

/// A row of tiles at a time: its part of A stays in the first-level cache while B passes.
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

/// The first row of tiles copies B while it multiplies, which hides the time that B takes to arrive; the others read
/// the copy. Only tiles of the two largest heights do; columns that they do not copy are copied before.
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
  const Index panel = (split.rows + 1) * t.k + 16;  // an odd number of lines: or all began in one set of the cache
  gemm_pack(t.a, t.a_k, t.a_row, t.k, tall, split.rows + 1, panel, out);
  gemm_pack(t.a + tall * t.a_row, t.a_k, t.a_row, t.k, t.rows - tall, split.rows, panel, out + split.taller * panel);
  t.a = out;
  t.a_row = 1;
  t.a_panel = panel;
}

}  // namespace
}  // namespace mote
