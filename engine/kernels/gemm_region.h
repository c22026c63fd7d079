// A product and a region of its result that one thread computes, block of k after block.
#pragma once

#include "engine/kernels/gemm.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {

constexpr Index cached_b = 64 * 1024;  // elements of packed B that stay in the second-level cache while all of A passes
constexpr Index pack_slack = 16;       // gemm_pack may write one Vec too far

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// One product, its options included.
struct Product {
  const Table& t;
  Index m, n, k;
  Matrix a, b;
  real* c;
  Index c_row;
  const real* bias;
};

/// Rows [i, i_end) by columns [j, j_end) of C, with all of k.
struct Region {
  Index i, i_end, j, j_end;
};

/// Rows of C by the block of k that begins at p, A and B as they lie in memory; of which columns is still open.
inline TileBlock block_of(const Product& x, const Region& r, Index p) {
  return {.rows = r.i_end - r.i,
          .columns = 0,
          .k = std::min(sum_block, x.k - p),
          .width = 0,
          .a = x.a.data + r.i * x.a.row + p * x.a.column,
          .b = nullptr,
          .c = nullptr,
          .bias = nullptr,
          .a_row = x.a.row,
          .b_k = x.b.row,
          .a_k = x.a.column,
          .b_panel = 0,
          .c_row = x.c_row,
          .add = p > 0};
}

/// The columns [j, j + columns) of such a block that begins at p: B as it lies, C, and the bias after the last k.
inline void set_columns(TileBlock& block, const Product& x, const Region& r, Index p, Index j, Index columns) {
  block.b = x.b.data + p * x.b.row + j * x.b.column, block.columns = columns;
  block.c = x.c + r.i * x.c_row + j, block.bias = x.bias && p + block.k == x.k ? x.bias + j : nullptr;
}

/// And B from packed panels of `width` columns, of which the first begins at `b`.
inline void set_panels(TileBlock& block, const real* b, Index width) {
  block.b = b, block.width = block.b_k = width, block.b_panel = width * block.k;
}

/// Whether B, or A, is copied before it is multiplied.
bool packs_b(const Product& x);
bool packs_a(const Product& x);
/// How many columns of B to pack at a time, in whole panels.
Index columns_at_once(const Product& x, Index columns, Index width);
/// Computes a region; nothing if it is empty.
void run(const Product& x, const Region& r);

}  // namespace mote::kernels
