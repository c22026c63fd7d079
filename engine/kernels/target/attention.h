// Attention of one block of up to 16 queries: their weights, and the gradient of their scores.
#pragma once

#include "engine/kernels/gemm.h"
#include "engine/kernels/target/attention_sums.h"
#include "engine/kernels/target/softmax.h"
#include "engine/kernels/target/transpose.h"

namespace mote {
namespace {

// Lanes are queries: sums over keys run down the keys, and nothing is added across a register.

using kernels::AttentionScores;

/// Puts `value` in place of what lies at pairs of a key and a query that does not see it: in most blocks of the last 15
/// keys. Returns which queries see a key.
MOTE_INLINE Mask hide(const AttentionBlock& b, real value, real* w) {
  const Vec instead(value);
  const auto hide_in = [&](Index j, Mask seen) { select(seen, Vec::load(w + 16 * j), instead).store(w + 16 * j); };
  Mask seen_any = lanes_below(b.keep ? 0 : 16);
  for (Index j = 0; b.keep && j < b.keys; ++j) {
    const Mask seen = kept(b.keep + 16 * j, 16);
    seen_any = seen_any | seen;
    hide_in(j, seen);
  }
  Vec after = Vec::iota();  // positions of the queries after that of key j
  for (Index j = b.full; !b.keep && j < b.keys; ++j, after -= Vec(1)) hide_in(j, after > Vec::zero());
  return seen_any;
}

/// sum[j] = the chain over columns c in [begin, end) of q_r[c] k_j[c], for the 16 queries r and keys from k on.
template <int keys>
MOTE_INLINE void multiply_keys(const AttentionScores& s, const real* k0, Index begin, Index end, Vec (&sum)[keys]) {
#pragma GCC unroll 16
  for (int j = 0; j < keys; ++j) sum[j] = Vec::zero();
  constexpr int pointers = (keys + 2) / 3;  // as in gemm.h
  const real* k[pointers];
  const Index row = s.k_row;
#pragma GCC unroll 16
  for (int g = 0; g < pointers; ++g) k[g] = k0 + 3 * g * row + begin;
  const real* q = s.turned + 16 * begin;
  for (Index c = end - begin; c > 0; --c) {
    const Vec x = Vec::load(q);
#pragma GCC unroll 16
    for (int j = 0; j < keys; ++j) sum[j] = fma(x, Vec(k[j / 3][j % 3 * row]), sum[j]);
    q += 16;
#pragma GCC unroll 16
    for (int g = 0; g < pointers; ++g) {
      ++k[g];
      asm("" : "+r"(k[g]));
    }
  }
}

/// w = (q_r . k_j) * scale. Long sums are cut into blocks as everywhere.
MOTE_INLINE void products(const AttentionBlock& b, const AttentionScores& s, Vec scale, real* w) {
  for (Index r = 0; r < 16; r += Reg::lanes)
    transpose_rows(s.q + r * s.q_row, s.q_row, b.rows - r, s.width, 16, s.turned + r);
  constexpr Index block = kernels::sum_block;
  for_tiles<sums_at_once * Reg::lanes / Vec::lanes>(b.keys, [&]<int keys>(Index first) {
    const real* const k = s.k + first * s.k_row;
    Vec sum[keys];
    multiply_keys(s, k, 0, s.width < block ? s.width : block, sum);
    for (Index begin = block; begin < s.width; begin += block) {
      Vec more[keys];
      multiply_keys(s, k, begin, s.width < begin + block ? s.width : begin + block, more);
#pragma GCC unroll 16
      for (int j = 0; j < keys; ++j) sum[j] += more[j];
    }
#pragma GCC unroll 16
    for (int j = 0; j < keys; ++j) (sum[j] * scale).store(w + 16 * (first + j));
  });
}

/// w = the scores q_r . k_j * scale + bias, -infinity where query r does not see key j. Returns which queries see a
/// key.
MOTE_INLINE Mask scores(const AttentionBlock& b, const AttentionScores& s, real* w) {
  products(b, s, Vec(s.scale), w);
  for (Index j = 0; s.bias && j < b.keys; ++j) (Vec::load(w + 16 * j) + Vec::load(s.bias - j)).store(w + 16 * j);
  return hide(b, -infinity, w);
}

/// One sum for each query over keys j: add(j, accumulator) for each. As if keys were lanes, accumulator j mod 16 takes
/// key j, and a tree combines the sixteen. A few at a time go over all their keys, and so stay in registers.
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

/// What the exponentials are multiplied by: 1 / total, and 1 where nothing was seen. The 1 is added: a select of the
/// divisor may be compiled as a select of the quotient, and 0 be divided by.
MOTE_INLINE Vec inverse_of(Vec total) { return Vec(1) / (total + select(total == Vec::zero(), Vec(1), Vec::zero())); }

/// w = softmax of the scores over the keys that each query sees, 0 for the others; each query's maximum and sum.
void attention_weights(const AttentionBlock& b, const AttentionScores& s, real* w, real* maxima, real* sums) {
  const Mask seen_any = scores(b, s, w);
  Vec tops[4] = {Vec(-infinity), Vec(-infinity), Vec(-infinity), Vec(-infinity)};
  Index j = 0;
  for (; j + 4 <= b.keys; j += 4)  // a NaN shows in the sum
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
  if (any(is_nan(total))) hide(b, 0, w);  // else it is 0 already
  if (!maxima) return;
  store_n(top, maxima, b.rows);
  store_n(total, sums, b.rows);
}

/// The same weights from the maxima and sums.
void attention_weights_again(const AttentionBlock& b, const AttentionScores& s, real* w, const real* maxima,
                             const real* sums) {
  scores(b, s, w);
  const Vec total = load_n(sums, b.rows), scale = inverse_of(total);
  const Vec top = select(total == Vec::zero(), Vec::zero(), load_n(maxima, b.rows));  // who saw nothing
  for (Index j = 0; j < b.keys; ++j) (v_exp_below(Vec::load(w + 16 * j) - top) * scale).store(w + 16 * j);
  if (any(is_nan(total))) hide(b, 0, w);
}

/// d = w (dP - sum over keys of dP w) scale, where dP = dy_r . v_j times the dropout factors.
void attention_score_gradient(const AttentionBlock& b, const AttentionScores& s, const real* factors, const real* w,
                              real* d) {
  products(b, s, Vec(1), d);
  for (Index j = 0; factors && j < b.keys; ++j) (Vec::load(d + 16 * j) * Vec::load(factors + 16 * j)).store(d + 16 * j);
  hide(b, 0, d);
  const Vec total = sum_over_keys(
      b.keys, [&](Index j, Vec & sum)
                  __attribute__((always_inline)) { sum = fma(Vec::load(d + 16 * j), Vec::load(w + 16 * j), sum); });
  const Vec scale(s.scale);
  for (Index j = 0; j < b.keys; ++j)
    (Vec::load(w + 16 * j) * (Vec::load(d + 16 * j) - total) * scale).store(d + 16 * j);
}

/// The scores of `groups` times Reg::lanes keys from `first` on; if not `whole`, of a last group of n. Squares of the
/// keys are transposed in registers, so that keys are lanes; several groups, so that no multiply-add waits for another.
template <int groups, bool whole>
MOTE_INLINE void scores_of_keys(const AttentionScores& s, Index first, Index n, real* scores) {
  constexpr int lanes = Reg::lanes;
  Reg sum[groups], total[groups];
  for (int g = 0; g < groups; ++g) sum[g] = total[g] = Reg::zero();
  for (Index c = 0; c < s.width; c += lanes) {
    const Index columns = s.width - c < lanes ? s.width - c : lanes;
    if (c > 0 && c % kernels::sum_block == 0)
      for (int g = 0; g < groups; ++g)
        total[g] = c == kernels::sum_block ? sum[g] : total[g] + sum[g], sum[g] = Reg::zero();
#pragma GCC unroll 4
    for (int g = 0; g < groups; ++g) {
      const real* const k = s.k + (first + g * lanes) * s.k_row + c;
      Reg square[lanes];
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i)
        square[i] = !whole && i >= n   ? Reg::zero()
                    : columns == lanes ? Reg::load(k + i * s.k_row)
                                       : Reg::load_first(k + i * s.k_row, columns);
      transpose(square);
#pragma GCC unroll 16
      for (int i = 0; i < lanes; ++i)
        if (i < columns) sum[g] = fma(square[i], Reg(s.q[c + i]), sum[g]);
    }
  }
  for (int g = 0; g < groups; ++g) {
    const Reg y = (s.width > kernels::sum_block ? total[g] + sum[g] : sum[g]) * Reg(s.scale);
    whole ? y.store(scores + first + g * lanes) : y.store_first(scores + first + g * lanes, n);
  }
}

void attention_scores_of_one(const AttentionScores& s, Index keys, real* scores) {
  constexpr Index lanes = Reg::lanes;
  for_tiles<4>(keys / lanes,
               [&]<int groups>(Index group) { scores_of_keys<groups, true>(s, group * lanes, lanes, scores); });
  if (const Index left = keys % lanes; left > 0) scores_of_keys<1, false>(s, keys - left, left, scores);
}

}  // namespace
}  // namespace mote
