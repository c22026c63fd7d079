// Attention one number at a time, in double; masks and slopes to try it with.
#pragma once

#include "engine/ops/ops.h"
#include "tests/support.h"

namespace mote::test {

/// Attention without dropout: q [B, H, Tq, d], k [B, Hkv, Tk, d], v [B, Hkv, Tk, dv].
inline std::vector<double> naive_attention(const std::vector<Value>& in, const AttentionOptions& o) {
  const Value &q = in[0], &k = in[1], &v = in[2];
  const Index B = q.shape[0], H = q.shape[1], Tq = q.shape[2], d = q.shape[3], G = k.shape[1], Tk = k.shape[2],
              dv = v.shape[3];
  const Mask mask = o.mask.defined() ? o.mask.expand({B, H, Tq, Tk}).contiguous() : Mask();
  const auto at = [](const Value& x, Index b, Index h, Index t, Index c) {
    return x.x[static_cast<std::size_t>(((b * x.shape[1] + h) * x.shape[2] + t) * x.shape[3] + c)];
  };
  std::vector<double> y;
  for (Index b = 0; b < B; ++b)
    for (Index h = 0; h < H; ++h)
      for (Index i = 0; i < Tq; ++i) {
        const Index g = h * G / H, position = i + Tk - Tq;
        std::vector<double> p(static_cast<std::size_t>(Tk), -INFINITY), sum(static_cast<std::size_t>(dv), 0);
        double top = -INFINITY, total = 0;
        for (Index j = 0; j < Tk; ++j) {
          if (o.causal.value_or(false) && (j > position || (o.window > 0 && j <= position - o.window))) continue;
          if (mask.defined() && !mask.data()[((b * H + h) * Tq + i) * Tk + j]) continue;
          double score = 0;
          for (Index c = 0; c < d; ++c) score += at(q, b, h, i, c) * at(k, b, g, j, c);
          if (o.scale || d > 0) score *= o.scale ? *o.scale : 1 / std::sqrt(static_cast<double>(d));
          if (o.alibi.defined())
            score -= static_cast<double>(o.alibi.at({h})) * static_cast<double>(std::abs(position - j));
          p[static_cast<std::size_t>(j)] = score;
          top = std::max(top, score);
        }
        for (double& weight : p) total += weight = weight > -INFINITY ? std::exp(weight - top) : 0;
        for (Index j = 0; j < Tk && total > 0; ++j)
          for (Index c = 0; c < dv; ++c)
            sum[static_cast<std::size_t>(c)] += p[static_cast<std::size_t>(j)] / total * at(v, b, g, j, c);
        y.insert(y.end(), sum.begin(), sum.end());
      }
  return y;
}

inline Mask random_mask(const Shape& shape, std::uint64_t seed) { return bernoulli(0.6, shape, Generator(seed)) > 0; }

/// 1/2, 1/4, 1/6, ...: other than the layer's, as the op takes any.
inline Array some_slopes(Index heads) {
  Array slopes = Array::empty({heads});
  for (Index h = 0; h < heads; ++h) slopes.mutate()[h] = real(0.5) / static_cast<real>(h + 1);
  return slopes;
}

}  // namespace mote::test
