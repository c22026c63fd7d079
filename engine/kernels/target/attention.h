// The attention kernels for one block of up to 16 queries: the weights, the gradient of the scores, and weighted sums
// of rows, over the keys that a query sees or over the queries that see a key.
#pragma once

#include "engine/kernels/gemm.h"
#include "engine/kernels/target/softmax.h"
#include "engine/kernels/target/transpose.h"

namespace mote {
namespace {

using kernels::AttentionBlock, kernels::RowProducts, kernels::WeightedRows;

/// A tile keeps its sums in this many registers. The other half of the registers is left for operands.
constexpr int sums_at_once = register_count / 2;

/// Calls tile.operator()<rows>(first) for groups of rows that together cover [0, n). As many groups as possible have
/// `most` rows. The rest is covered by groups of half as many rows, a quarter as many, and so on.
template <int most, class Tile>
MOTE_INLINE void for_tiles(Index n, const Tile& tile, Index first = 0) {
  for (; first + most <= n; first += most) tile.template operator()<most>(first);
  if constexpr (most > 1) for_tiles<most / 2>(n, tile, first);
}

// In a block of several queries, each lane is one query. So a sum over keys adds whole registers, and never adds the
// lanes of one register.

/// Writes `value` into w for every pair of a key and a query that does not see the key. In most blocks only the last
/// 15 keys have such pairs. Returns which queries see at least one key.
MOTE_INLINE Truths mask_pairs(const AttentionBlock& b, real value, real* w) {
  const Vec instead(value);
  const auto mask_key = [&](Index j, Truths seen) { select(seen, Vec::load(w + 16 * j), instead).store(w + 16 * j); };
  Truths seen_any = lanes_below(b.keep ? 0 : 16);
  for (Index j = 0; b.keep && j < b.keys; ++j) {
    const Truths seen = kept(b.keep + 16 * j, 16);
    seen_any = seen_any | seen;
    mask_key(j, seen);
  }
  Vec after = Vec::iota();  // r - (j - full) for each query r, above 0 if the query sees key j
  for (Index j = b.full; !b.keep && j < b.keys; ++j, after -= Vec(1)) mask_key(j, after > Vec::zero());
  return seen_any;
}

/// sum[j] = the sum of a_r[c] b_j[c] over columns c in [begin, end), as one chain of fused multiply-adds. Each of the
/// 16 lanes is a row r of a, and the rows b_j begin at b0. Column c of the 16 rows of a lies at a[16 * c].
template <int keys>
MOTE_INLINE void multiply_keys(const real* a, const real* b0, Index b_row, Index begin, Index end, Vec (&sum)[keys]) {
#pragma GCC unroll 16
  for (int j = 0; j < keys; ++j) sum[j] = Vec::zero();
  constexpr int pointers = (keys + 2) / 3;  // one for every three rows of b, so that all pointers fit the registers
  const real* b[pointers];
#pragma GCC unroll 16
  for (int g = 0; g < pointers; ++g) b[g] = b0 + 3 * g * b_row + begin;
  a += 16 * begin;
  for (Index c = end - begin; c > 0; --c) {
    const Vec x = Vec::load(a);
#pragma GCC unroll 16
    for (int j = 0; j < keys; ++j) sum[j] = fma(x, Vec(b[j / 3][j % 3 * b_row]), sum[j]);
    a += 16;
#pragma GCC unroll 16
    for (int g = 0; g < pointers; ++g) {
      ++b[g];
      asm("" : "+r"(b[g]));
    }
  }
}

/// w = (a_r . b_j) * factor. Long sums are cut into blocks of sum_block. Not inlined, so that the tiles, which take
/// long to compile, are compiled only once.
[[gnu::noinline]] void multiply_rows(const AttentionBlock& block, const RowProducts& p, real factor, real* w) {
  const Vec scale(factor);
  for (Index r = 0; r < 16; r += Reg::lanes)
    transpose_rows(p.a + r * p.a_row, p.a_row, block.rows - r, p.width, 16, block.transposed + r);
  constexpr Index step = kernels::sum_block;
  for_tiles<sums_at_once * Reg::lanes / Vec::lanes>(block.keys, [&]<int keys>(Index first) {
    const real* const b = p.b + first * p.b_row;
    Vec sum[keys];
    multiply_keys(block.transposed, b, p.b_row, 0, p.width < step ? p.width : step, sum);
    for (Index begin = step; begin < p.width; begin += step) {
      Vec more[keys];
      multiply_keys(block.transposed, b, p.b_row, begin, p.width < begin + step ? p.width : begin + step, more);
#pragma GCC unroll 16
      for (int j = 0; j < keys; ++j) sum[j] += more[j];
    }
#pragma GCC unroll 16
    for (int j = 0; j < keys; ++j) (sum[j] * scale).store(w + 16 * (first + j));
  });
}

/// w = the scores q_r . k_j * scale + bias, or -infinity if query r does not see key j. Returns which queries see at
/// least one key.
MOTE_INLINE Truths scores(const AttentionBlock& b, real* w) {
  multiply_rows(b, b.products, b.scale, w);
  for (Index j = 0; b.bias && j < b.keys; ++j) (Vec::load(w + 16 * j) + Vec::load(b.bias - j)).store(w + 16 * j);
  return mask_pairs(b, -infinity, w);
}

/// The sum over all keys for each query. add(j, accumulator) adds the term of key j. Key j goes into accumulator j mod
/// 16, and a tree combines the 16 accumulators, in the same order as in a sum whose lanes are keys. Only a few
/// accumulators are summed at a time, so that they stay in registers.
template <class Add>
MOTE_INLINE Vec sum_over_keys(Index keys, const Add& add) {
  constexpr int at_once = Reg::lanes < 4 ? 1 : Reg::lanes / 4;
  Vec total[16];
  const Index whole = keys - keys % 16;
#pragma GCC unroll 1
  for (int first = 0; first < 16; first += at_once) {
    Vec sum[at_once];
#pragma GCC unroll 4
    for (int i = 0; i < at_once; ++i) sum[i] = Vec::zero();
    for (Index j = first; j < whole; j += 16)
#pragma GCC unroll 4
      for (int i = 0; i < at_once; ++i) add(j + i, sum[i]);
#pragma GCC unroll 4
    for (int i = 0; i < at_once; ++i) total[first + i] = sum[i];
  }
  for (Index j = whole; j < keys; ++j) add(j, total[j - whole]);
#pragma GCC unroll 4
  for (int half = 8; half > 0; half /= 2)
#pragma GCC unroll 8
    for (int i = 0; i < half; ++i) total[i] += total[i + half];
  return total[0];
}

/// The factor that turns the exponentials of a query into weights. It is 1 / total, or 1 for a query that sees no key
/// and so has a total of 0. For such a query, 1 is added to total, because a select of the divisor might be compiled
/// as a select of the quotient, and would then divide by 0.
MOTE_INLINE Vec inverse_of(Vec total) { return Vec(1) / (total + select(total == Vec::zero(), Vec(1), Vec::zero())); }

/// The scores of a single query with `groups` groups of Reg::lanes keys, from key `first` on. If `whole` is false,
/// there is one group, and it has only n keys. Squares of Reg::lanes keys by Reg::lanes columns are transposed in
/// registers, so that each lane is one key. Several groups are computed together, so that no multiply-add waits for
/// another.
template <int groups, bool whole>
MOTE_INLINE void scores_of_keys(const AttentionBlock& b, Index first, Index n, real* scores) {
  constexpr int lanes = Reg::lanes;
  const RowProducts& p = b.products;
  Reg sum[groups], total[groups];
  for (int g = 0; g < groups; ++g) sum[g] = total[g] = Reg::zero();
  for (Index c = 0; c < p.width; c += lanes) {
    const Index columns = p.width - c < lanes ? p.width - c : lanes;
    if (c > 0 && c % kernels::sum_block == 0)
      for (int g = 0; g < groups; ++g) {
        total[g] = total[g] + sum[g];
        sum[g] = Reg::zero();
      }
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) {
      const real* const k = p.b + (first + g * lanes) * p.b_row + c;
      Reg square[lanes];
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i)
        square[i] = !whole && i >= n   ? Reg::zero()
                    : columns == lanes ? Reg::load(k + i * p.b_row)
                                       : Reg::load_first(k + i * p.b_row, columns);
      transpose(square);
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i)
        if (i < columns) sum[g] = fma(square[i], Reg(p.a[c + i]), sum[g]);
    }
  }
  for (int g = 0; g < groups; ++g) {
    const Reg y = (total[g] + sum[g]) * Reg(b.scale);
    whole ? y.store(scores + first + g * lanes) : y.store_first(scores + first + g * lanes, n);
  }
}

/// Computes the weights of a single query, as in text generation. Each lane is one key.
MOTE_INLINE void weights_of_one(const AttentionBlock& b, real* w, real* maximum, real* sum) {
  constexpr Index lanes = Reg::lanes;
  for_tiles<4>(b.keys / lanes,
               [&]<int groups>(Index group) { scores_of_keys<groups, true>(b, group * lanes, lanes, w); });
  if (const Index left = b.keys % lanes; left > 0) scores_of_keys<1, false>(b, b.keys - left, left, w);
  for (Index j = 0; b.bias && j < b.keys; ++j) w[j] += b.bias[-j];
  real stats[2];
  softmax(w, b.keep, w, stats, b.keys);
  if (maximum) {
    *maximum = stats[0];
    *sum = stats[1];
  }
}

/// w = the softmax of the scores over the keys that each query sees, and 0 for the other keys. maxima and sums, if not
/// null, receive each query's largest score and sum of exponentials.
void attention_weights(const AttentionBlock& b, real* w, real* maxima, real* sums) {
  if (b.lanes == 1) return weights_of_one(b, w, maxima, sums);
  const Truths seen_any = scores(b, w);
  Vec tops[4] = {Vec(-infinity), Vec(-infinity), Vec(-infinity), Vec(-infinity)};
  Index j = 0;
  for (; j + 4 <= b.keys; j += 4)  // greater_of() ignores a NaN here, but the sum of exponentials becomes NaN
#pragma GCC unroll 4
    for (int i = 0; i < 4; ++i) tops[i] = greater_of(Vec::load(w + 16 * (j + i)), tops[i]);
  for (; j < b.keys; ++j) tops[0] = greater_of(Vec::load(w + 16 * j), tops[0]);
  const Vec top = greater_of(greater_of(tops[0], tops[1]), greater_of(tops[2], tops[3]));
  const Vec subtracted = select(seen_any, top, Vec::zero());
  const Vec total = sum_over_keys(
      b.keys, [&](Index key, Vec & sum) __attribute__((always_inline)) {
        const Vec e = v_exp_below(Vec::load(w + 16 * key) - subtracted);
        e.store(w + 16 * key);
        sum += e;
      });
  const Vec scale = inverse_of(total);
  for (Index key = 0; key < b.keys; ++key) (Vec::load(w + 16 * key) * scale).store(w + 16 * key);
  if (any(is_nan(total))) mask_pairs(b, 0, w);  // a NaN total makes the weights of unseen keys 0 * NaN = NaN
  if (!maxima) return;
  store_n(top, maxima, b.rows);
  store_n(total, sums, b.rows);
}

void attention_recompute_weights(const AttentionBlock& b, real* w, const real* maxima, const real* sums) {
  scores(b, w);
  const Vec total = load_n(sums, b.rows), scale = inverse_of(total);
  // The maximum of a query that sees no key is -infinity. Then 0 is subtracted instead, because -infinity - -infinity
  // is NaN.
  const Vec top = select(total == Vec::zero(), Vec::zero(), load_n(maxima, b.rows));
  for (Index j = 0; j < b.keys; ++j) (v_exp_below(Vec::load(w + 16 * j) - top) * scale).store(w + 16 * j);
  if (any(is_nan(total))) mask_pairs(b, 0, w);
}

/// d = w (dP - D) scale, where D is the sum of dP w over the keys and dP = dy_r . v_j times the scaled dropout mask.
void attention_score_gradient(const AttentionBlock& b, const RowProducts& dy_v, const real* dropout, const real* w,
                              real* d) {
  multiply_rows(b, dy_v, 1, d);
  for (Index j = 0; dropout && j < b.keys; ++j) (Vec::load(d + 16 * j) * Vec::load(dropout + 16 * j)).store(d + 16 * j);
  mask_pairs(b, 0, d);
  const Vec total = sum_over_keys(
      b.keys, [&](Index j, Vec & sum)
                  __attribute__((always_inline)) { sum = fma(Vec::load(d + 16 * j), Vec::load(w + 16 * j), sum); });
  const Vec scale(b.scale);
  for (Index j = 0; j < b.keys; ++j)
    (Vec::load(w + 16 * j) * (Vec::load(d + 16 * j) - total) * scale).store(d + 16 * j);
  if (any(is_nan(total - total))) mask_pairs(b, 0, d);  // if a sum is not finite, a weight of 0 times the sum is NaN
}

// Weighted sums of rows. Each lane is one column, and a tile holds the sums of a few rows, a few registers wide. Pairs
// that the causal mask hides are not multiplied, so a NaN in a hidden row has no effect.

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
/// time and fewer at the end.
template <int most, class Tile>
MOTE_INLINE void for_columns(Index width, const Tile& tile, Index c = 0) {
  for (; c + most * Reg::lanes <= width; c += most * Reg::lanes)
    tile.template operator()<most, false>(c, most * Reg::lanes);
  if constexpr (most > 1)
    for_columns<most / 2>(width, tile, c);
  else if (c < width)
    tile.template operator()<1, true>(c, width - c);
}

/// y_r = the sum of w_rj x_j over the keys j that query r sees, in ascending j, for `rows` queries from `first` on. If
/// `add`, the sum is added to y_r. If there are no keys, w and x may be null.
template <int rows, int regs, bool edge>
MOTE_INLINE void sum_keys_tile(const AttentionBlock& b, const WeightedRows& s, bool add, Index first, Index column,
                               Index n) {
  const Index full = b.full + first;  // keys that the first query sees; each further query sees one more
  Reg sum[rows][regs];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r)
#pragma GCC unroll 8
    for (int v = 0; v < regs; ++v) sum[r][v] = Reg::zero();
  for (Index j = 0, end = full < b.keys ? full : b.keys; j < end; ++j)
    add_row<rows, regs, edge>(sum, s.w + (j * b.lanes + first), 1, s.x + (j * s.x_row + column), n, 0, rows);
#pragma GCC unroll 16
  for (int t = 0; t < rows - 1; ++t) {
    const Index j = full + t;
    if (j < 0) continue;
    if (j >= b.keys) break;
    add_row<rows, regs, edge>(sum, s.w + (j * b.lanes + first), 1, s.x + (j * s.x_row + column), n, t + 1, rows);
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
  if (b.rows == 1)  // for a single query, only more columns give more independent sums
    return for_columns<8>(s.width, [&]<int regs, bool edge>(Index column, Index n) {
      sum_keys_tile<1, regs, edge>(b, s, add, 0, column, n);
    });
  for_columns<2>(s.width, [&]<int regs, bool edge>(Index column, Index n) {
    for_tiles<sums_at_once / regs>(
        b.rows, [&]<int rows>(Index first) { sum_keys_tile<rows, regs, edge>(b, s, add, first, column, n); });
  });
}

/// y_j += w_rj x_r for each query r that sees key j, in ascending r. For keys from `unset` on, y_j starts at 0.
void attention_sum_queries(const AttentionBlock& b, const WeightedRows& s, Index unset) {
  for_columns<2>(s.width, [&]<int regs, bool edge>(Index column, Index n) {
    for_tiles<sums_at_once / regs>(b.keys, [&]<int keys>(Index first) {
      const real *const w = s.w + first * 16, *const x = s.x + column;
      const Index from = first - b.full + 1;  // the first query that sees key `first`; one later for each further key
      Reg sum[keys][regs];
#pragma GCC unroll 16
      for (int j = 0; j < keys; ++j)
#pragma GCC unroll 4
        for (int v = 0; v < regs; ++v)
          sum[j][v] = first + j < unset ? load_columns<edge>(s.y + (first + j) * s.y_row + column + v * Reg::lanes, n)
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
