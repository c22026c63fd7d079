// What is here: attention as the formula has it, all weights at once: what the op in blocks is compared with.
// What is not: anything fast.
// Read next: attention_test.cpp.
#pragma once

#include <cmath>

#include "engine/ops/ops.h"

namespace mote::test {

/// Keys a query may see: the mask, and by position causal and window. [.., Tq, Tk], undefined if all.
inline Mask plain_keep(Index queries, Index keys, const AttentionOptions& o) {
  Mask keep = o.mask;
  if (o.causal) {
    Mask past({queries, keys});
    for (Index i = 0; i < queries; ++i)
      for (Index j = 0; j < keys; ++j) {
        const Index distance = i + keys - queries - j;
        past.mutate()[i * keys + j] = distance >= 0 && (o.window == 0 || distance < o.window);
      }
    keep = keep.defined() ? keep & past : past;
  }
  return keep;
}

/// Heads of k or v repeated so that each head of q has its own.
inline Tensor plain_repeat(const Tensor& x, Index heads) {
  if (x.dim() < 3 || x.size(-3) == heads) return x;
  std::vector<Tensor> all;
  for (Index h = 0; h < heads; ++h) all.push_back(select(x, -3, h / (heads / x.size(-3))));
  return stack(all, x.dim() - 3);
}

inline Tensor plain_attention(const Tensor& q, const Tensor& few_k, const Tensor& few_v, const AttentionOptions& o) {
  const Index heads = q.dim() < 3 ? 1 : q.size(-3), queries = q.size(-2), keys = few_k.size(-2);
  const Tensor k = plain_repeat(few_k, heads);
  const Tensor v = plain_repeat(few_v, heads);
  const real scale = o.scale ? static_cast<real>(*o.scale) : real(1) / std::sqrt(static_cast<real>(q.size(-1)));
  Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;
  if (o.alibi.defined()) {
    Array bias = Array::empty({heads, queries, keys});
    real* out = bias.mutate();
    for (Index h = 0; h < heads; ++h)
      for (Index i = 0; i < queries; ++i)
        for (Index j = 0; j < keys; ++j)
          *out++ = -o.alibi.at({h}) * static_cast<real>(std::abs(i + keys - queries - j));
    scores = scores + Tensor(bias);
  }
  const Mask keep = plain_keep(queries, keys, o);
  Tensor weights = keep.defined() ? masked_softmax(scores, keep) : softmax(scores, -1);
  if (o.weights) *o.weights = weights.array();
  if (o.dropout > 0) weights = dropout(weights, o.dropout, *o.random);
  if (o.dropped_weights) *o.dropped_weights = weights.array();
  return matmul(weights, v);
}

}  // namespace mote::test
