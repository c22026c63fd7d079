// Attention of one block of up to 16 queries: their weights, and the gradient of their scores.
#pragma once

#include "engine/kernels/gemm.h"
#include "engine/kernels/target/attention_sums.h"
#include "engine/kernels/target/softmax.h"
#include "engine/kernels/target/turn.h"

namespace mote {
namespace {

// Lanes are queries: sums over keys run down the keys, and nothing is added across a register.

using kernels::AttentionScores;

/// Which of the 16 queries see key j, if not all do.
MOTE_INLINE bool all_see(const AttentionBlock& b, Index j) { return !b.keep && j < b.full; }
MOTE_INLINE Mask who_sees(const AttentionBlock& b, Index j) {
  return b.keep ? kept(b.keep + 16 * j, 16) : Vec::iota() > Vec(static_cast<real>(j - b.full));
}

/// finish(j, Vec of q_r . k_j for the 16 queries r) for each key. Long sums are cut into blocks as everywhere.
template <class Finish>
MOTE_INLINE void products(const AttentionBlock& b, const AttentionScores& s, real* out, const Finish& finish) {
  turn(s.q, s.q_row, b.rows, s.width, s.turned);
  constexpr int most = sums_at_once * Reg::lanes / Vec::lanes;
  for_tiles<most>(b.keys, [&]<int keys>(Index first) {
    for (Index begin = 0; begin == 0 || begin < s.width; begin += kernels::sum_block) {
      const Index end = begin + kernels::sum_block < s.width ? begin + kernels::sum_block : s.width;
      const real* const k = s.k + first * s.k_row;
      Vec sum[keys];
#pragma GCC unroll 16
      for (int j = 0; j < keys; ++j) sum[j] = Vec::zero();
      for (Index c = begin; c < end; ++c) {
        const Vec q = Vec::load(s.turned + 16 * c);
#pragma GCC unroll 16
        for (int j = 0; j < keys; ++j) sum[j] = fma(q, Vec(k[j * s.k_row + c]), sum[j]);
      }
#pragma GCC unroll 16
      for (int j = 0; j < keys; ++j) {
        real* const place = out + 16 * (first + j);
        if (begin > 0) sum[j] = Vec::load(place) + sum[j];
        end < s.width ? sum[j].store(place) : finish(first + j, sum[j]);
      }
    }
  });
}

/// w = the scores q_r . k_j * scale + bias.
MOTE_INLINE void scores(const AttentionBlock& b, const AttentionScores& s, real* w) {
  const Vec scale(s.scale);
  products(b, s, w, [&](Index j, Vec product) {
    const Vec score = product * scale;
    (s.bias ? score + Vec::load(s.bias - j) : score).store(w + 16 * j);
  });
}

/// One sum for each query: accumulator j mod 16 took the terms of key j, as if keys were lanes.
MOTE_INLINE Vec sum_over_lanes(Vec (&t)[16]) {
  for (int half = 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) t[i] += t[i + half];
  return t[0];
}
MOTE_INLINE Vec one_for_zero(Vec x) { return select(x == Vec::zero(), Vec(1), x); }

/// w = softmax of the scores over the keys that each query sees, 0 for the others; each query's maximum and sum.
void attention_weights(const AttentionBlock& b, const AttentionScores& s, real* w, real* maxima, real* sums) {
  scores(b, s, w);
  Vec tops[4] = {Vec(-infinity), Vec(-infinity), Vec(-infinity), Vec(-infinity)};
  Mask seen_any = lanes_below(b.keep ? 0 : 16);
  const auto larger = [](Vec a, Vec x) { return select(a < x, x, a); };  // a NaN shows in the sum
  for (Index j = 0; j < b.keys; ++j) {
    Vec x = Vec::load(w + 16 * j);
    if (!all_see(b, j)) {
      const Mask seen = who_sees(b, j);
      seen_any = seen_any | seen;
      x = select(seen, x, Vec(-infinity));
      x.store(w + 16 * j);
    }
    tops[j % 4] = larger(tops[j % 4], x);
  }
  const Vec top = larger(larger(tops[0], tops[1]), larger(tops[2], tops[3]));
  const Vec subtracted = select(seen_any, top, Vec::zero());
  Vec totals[16] = {};
  for (Index j = 0; j < b.keys; ++j) {
    const Vec e = v_exp_below(Vec::load(w + 16 * j) - subtracted);
    e.store(w + 16 * j);
    totals[j % 16] += e;
  }
  const Vec total = sum_over_lanes(totals), scale = Vec(1) / one_for_zero(total);
  for (Index j = 0; j < b.keys; ++j) {
    Vec p = Vec::load(w + 16 * j) * scale;
    if (!all_see(b, j)) p = select(who_sees(b, j), p, Vec::zero());  // 0 even if the sum is NaN
    p.store(w + 16 * j);
  }
  if (!maxima) return;
  store_n(top, maxima, b.rows);
  store_n(total, sums, b.rows);
}

/// The same weights from the maxima and sums.
void attention_weights_again(const AttentionBlock& b, const AttentionScores& s, real* w, const real* maxima,
                             const real* sums) {
  scores(b, s, w);
  const Vec total = load_n(sums, b.rows), scale = Vec(1) / one_for_zero(total);
  const Vec top = select(total == Vec::zero(), Vec::zero(), load_n(maxima, b.rows));  // who saw nothing
  for (Index j = 0; j < b.keys; ++j) {
    Vec x = Vec::load(w + 16 * j);
    if (all_see(b, j)) {
      (v_exp_below(x - top) * scale).store(w + 16 * j);
    } else {  // an unseen score may lie above the maximum
      const Mask seen = who_sees(b, j);
      x = v_exp_below(select(seen, x, Vec(-infinity)) - top) * scale;
      select(seen, x, Vec::zero()).store(w + 16 * j);
    }
  }
}

/// d = w (dP - sum over keys of dP w) scale, where dP = dy_r . v_j times the dropout factors.
void attention_score_gradient(const AttentionBlock& b, const AttentionScores& s, const real* factors, const real* w,
                              real* d) {
  Vec inner[16] = {};
  products(b, s, d, [&](Index j, Vec dp) {
    if (factors) dp = dp * Vec::load(factors + 16 * j);
    if (!all_see(b, j)) dp = select(who_sees(b, j), dp, Vec::zero());
    dp.store(d + 16 * j);
    inner[j % 16] = fma(dp, Vec::load(w + 16 * j), inner[j % 16]);
  });
  const Vec total = sum_over_lanes(inner), scale(s.scale);
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
