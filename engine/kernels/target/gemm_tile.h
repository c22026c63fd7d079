// The register tile: a few rows by a few machine registers of C, kept in registers throughout a block of k.
#pragma once

#include "engine/kernels/kernels.h"
#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

using kernels::TileBlock;

// A tile needs at least eight accumulators, because two multiply-adds may begin in each cycle and one takes four; the
// more, the more often each loaded element of A and B is used. All of a tile's accumulators, a row of B and an element
// of A fit the registers: AVX-512 and NEON have 32, AVX2 16. Few rows are multiplied by more registers of B,
// and a single register of columns by more rows, up to `tallest`.
#if defined(MOTE_TARGET_AVX512)
constexpr int tile_rows = 14, accumulators = 28, most_registers = 4, tallest = 16;
#elif defined(MOTE_TARGET_NEON)
constexpr int tile_rows = 6, accumulators = 24, most_registers = 8, tallest = 12;
#elif defined(MOTE_TARGET_AVX2)
constexpr int tile_rows = 6, accumulators = 12, most_registers = 4, tallest = 12;
#else
constexpr int tile_rows = 3, accumulators = 12, most_registers = 4, tallest = 3;
#endif
constexpr int registers_of(int rows) {
  return rows > tile_rows ? 1 : accumulators / rows < most_registers ? accumulators / rows : most_registers;
}

/// Register v of a row of elements; the last one of an edge has only `last` lanes.
template <int registers, bool edge>
MOTE_INLINE Reg load_register(const real* p, int v, Index last) {
  return edge && v == registers - 1 ? Reg::load_first(p + v * Reg::lanes, last) : Reg::load(p + v * Reg::lanes);
}

// No hardware looks ahead from row to row of B. As many rows take a tile a few hundred cycles, as long as main memory.
constexpr Index rows_ahead = 48;

/// The tile at `c`, from column j on: every element of C is one accumulator and k only ascends, which is why the bits
/// never change. A tile may be as wide as several panels of `panel` registers each. One that `copies` stores the B that
/// it loads as a panel.
template <int rows, int registers, bool edge, int panel = registers, bool copies = false>
void multiply_tile(const TileBlock& t, const real* a0, Index a_k, const real* b, real* c, Index j) {
  const Index last = t.columns - j - (registers - 1) * Reg::lanes;
  const auto load = [last](const real* p, int v) __attribute__((always_inline)) {
    return load_register<registers, edge>(p, v, last);
  };
  Reg sum[rows][registers];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
    for (int v = 0; v < registers; ++v) sum[r][v] = Reg::zero();
  // One pointer for every three rows: an address is a pointer plus 0, 1 or 2 strides, and all fit the registers.
  constexpr int pointers = (rows + 2) / 3;
  const Index a_row = t.a_row;
  const real* a[pointers];
#pragma GCC unroll 16
  for (int g = 0; g < pointers; ++g) a[g] = a0 + 3 * g * a_row;
  if (t.add)
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < registers; ++v) __builtin_prefetch(c + r * t.c_row + v * Reg::lanes, 1);
  const Index b_k = t.b_k;
  [[maybe_unused]] real* copy = copies ? t.copy + j * t.k : nullptr;
  for (Index p = t.k; p > 0; --p) {
    Reg y[registers];
#pragma GCC unroll 16
    for (int v = 0; v < registers; ++v)
      y[v] = panel < registers ? Reg::load(b + v / panel * t.b_panel + v % panel * Reg::lanes) : load(b, v);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const Reg x(a[r / 3][r % 3 * a_row]);
#pragma GCC unroll 16
      for (int v = 0; v < registers; ++v) sum[r][v] = fma(x, y[v], sum[r][v]);
    }
    if constexpr (copies) {
#pragma GCC unroll 16
      for (int v = 0; v < registers; ++v) {
        __builtin_prefetch(b + rows_ahead * b_k + v * Reg::lanes);
        y[v].store(copy + v * Reg::lanes);
      }
      copy += registers * Reg::lanes;
    }
    b += b_k;
#pragma GCC unroll 16
    for (int g = 0; g < pointers; ++g) {
      a[g] += a_k;
      asm("" : "+r"(a[g]));  // or the compiler makes a pointer of each row, too many for the registers
    }
  }
  const Index c_row = t.c_row;
  if (t.add)
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < registers; ++v) sum[r][v] = load(c + r * c_row, v) + sum[r][v];
  if (t.bias)
#pragma GCC unroll 16
    for (int v = 0; v < registers; ++v) {
      const Reg y = load(t.bias + j, v);
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
  MultiplyTile* of[tallest][most_registers][2];  // [rows - 1][registers - 1][edge]
};
template <int rows = tallest, int registers = registers_of(rows)>
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

/// One row by two panels. A single row is as fast as B is read, and two streams are read faster than one.
constexpr MultiplyTile* row_by_two_panels = multiply_tile<1, 2 * most_registers, false, most_registers>;

template <int rows>
constexpr MultiplyTile* copying_tile = multiply_tile<rows, registers_of(rows), false, registers_of(rows), true>;

}  // namespace
}  // namespace mote
