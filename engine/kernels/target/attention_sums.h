// Attention's sums of rows with weights: over the keys that a query sees, over the queries that see a key.
#pragma once

#include "engine/kernels/target/rows.h"

namespace mote {
namespace {

// Lanes are columns of the rows; a tile is rows x registers of sums. Pairs that causality hides are not multiplied: no
// NaN comes out of them.

using kernels::AttentionBlock, kernels::WeightedRows;

/// Accumulators of a tile of sums: registers are left for its operands.
constexpr int sums_at_once = register_count / 2;

/// Calls tile.operator()<rows>(first) for rows that together cover [0, n): `most` at a time, then halves.
template <int most, class Tile>
MOTE_INLINE void for_tiles(Index n, const Tile& tile, Index first = 0) {
  for (; first + most <= n; first += most) tile.template operator()<most>(first);
  if constexpr (most > 1) for_tiles<most / 2>(n, tile, first);
}

template <bool edge>
MOTE_INLINE Reg load_columns(const real* p, Index n) {
  return edge ? Reg::load_first(p, n) : Reg::load(p);
}

/// sum[r] += a[r * a_row] x for rows r in [from, to).
template <int rows, int regs, bool edge>
MOTE_INLINE void add_row(Reg (&sum)[rows][regs], const real* a, Index a_row, const real* x, Index n, int from, int to) {
  Reg columns[regs];
#pragma GCC unroll 8
  for (int v = 0; v < regs; ++v) columns[v] = load_columns<edge>(x + v * Reg::lanes, n);
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
    if (r < from || r >= to) continue;
    const Reg weight(a[r * a_row]);
#pragma GCC unroll 8
    for (int v = 0; v < regs; ++v) sum[r][v] = fma(weight, columns[v], sum[r][v]);
  }
}

/// Calls tile.operator()<regs, edge>(first column, columns) so that all columns are covered, `most` registers at a
/// time.
template <int most, class Tile>
MOTE_INLINE void for_columns(Index width, const Tile& tile, Index c = 0) {
  for (; c + most * Reg::lanes <= width; c += most * Reg::lanes)
    tile.template operator()<most, false>(c, most * Reg::lanes);
  if constexpr (most > 1)
    for_columns<most / 2>(width, tile, c);
  else if (c < width)
    tile.template operator()<1, true>(c, width - c);
}

/// y_r = (y_r if `add`) + sum over the keys j that query r sees of w_rj x_j, j ascending: `rows` queries from `first`.
template <int rows, int regs, bool edge>
MOTE_INLINE void sum_keys_tile(const AttentionBlock& b, const WeightedRows& s, bool add, Index first, Index column,
                               Index n) {
  const real *const w = s.w + first, *const x = s.x + column;
  const Index full = b.full + first;  // keys that the first row sees; each further row sees one more
  Reg sum[rows][regs];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < regs; ++v) sum[r][v] = Reg::zero();
  for (Index j = 0, end = full < b.keys ? full : b.keys; j < end; ++j)
    add_row<rows, regs, edge>(sum, w + j * s.w_key, 1, x + j * s.x_row, n, 0, rows);
#pragma GCC unroll 16
  for (int t = 0; t < rows - 1; ++t) {
    const Index j = full + t;
    if (j < 0) continue;
    if (j >= b.keys) break;
    add_row<rows, regs, edge>(sum, w + j * s.w_key, 1, x + j * s.x_row, n, t + 1, rows);
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < regs; ++v) {
      real* const y = s.y + (first + r) * s.y_row + column + v * Reg::lanes;
      if (add) sum[r][v] = load_columns<edge>(y, n) + sum[r][v];
      edge ? sum[r][v].store_first(y, n) : sum[r][v].store(y);
    }
}

void attention_sum_keys(const AttentionBlock& b, const WeightedRows& s, bool add) {
  if (b.rows == 1)  // of one query only its columns are independent sums
    return for_columns<8>(s.width, [&]<int regs, bool edge>(Index column, Index n) {
      sum_keys_tile<1, regs, edge>(b, s, add, 0, column, n);
    });
  for_columns<2>(s.width, [&]<int regs, bool edge>(Index column, Index n) {
    for_tiles<sums_at_once / regs>(
        b.rows, [&]<int rows>(Index first) { sum_keys_tile<rows, regs, edge>(b, s, add, first, column, n); });
  });
}

/// y_j goes on, or for keys from `fresh` on begins at 0: += w_rj x_r for each query r that sees key j, r ascending.
void attention_sum_queries(const AttentionBlock& b, const WeightedRows& s, Index fresh) {
  for_columns<2>(s.width, [&]<int regs, bool edge>(Index column, Index n) {
    for_tiles<sums_at_once / regs>(b.keys, [&]<int keys>(Index first) {
      const real *const w = s.w + first * 16, *const x = s.x + column;
      const Index from = first - b.full + 1;  // the query that is the first to see the first key; one more each
      Reg sum[keys][regs];
#pragma GCC unroll 16
      for (int j = 0; j < keys; ++j)
#pragma GCC unroll 4
        for (int v = 0; v < regs; ++v)
          sum[j][v] = first + j < fresh ? load_columns<edge>(s.y + (first + j) * s.y_row + column + v * Reg::lanes, n)
                                        : Reg::zero();
#pragma GCC unroll 16
      for (int t = 0; t < keys - 1; ++t) {
        const Index r = from + t;
        if (r < 0) continue;
        if (r >= b.rows) break;
        add_row<keys, regs, edge>(sum, w + r, 16, x + r * s.x_row, n, 0, t + 1);
      }
      for (Index r = from + keys - 1 > 0 ? from + keys - 1 : 0; r < b.rows; ++r)
        add_row<keys, regs, edge>(sum, w + r, 16, x + r * s.x_row, n, 0, keys);
#pragma GCC unroll 16
      for (int j = 0; j < keys; ++j)
#pragma GCC unroll 4
        for (int v = 0; v < regs; ++v) {
          real* const y = s.y + (first + j) * s.y_row + column + v * Reg::lanes;
          edge ? sum[j][v].store_first(y, n) : sum[j][v].store(y);
        }
    });
  });
}

}  // namespace
}  // namespace mote
