// Attention written as its formula, in separate ops. attention() computes the same result faster, bit for bit if all
// values are finite.
#pragma once

#include "engine/ops/arithmetic.h"
#include "engine/ops/attention.h"
#include "engine/ops/create.h"
#include "engine/ops/dropout.h"
#include "engine/ops/matmul.h"
#include "engine/ops/softmax.h"
#include "engine/ops/unary.h"
#include "engine/ops/view.h"

namespace mote {

/// The matrix product a b, in which each matrix of b serves H / Hkv neighbouring matrices of a: a [B, H, T, n], b
/// [B, Hkv, n, m] -> [B, H, T, m]. The neighbouring matrices are stacked into one product, so the gradient of b is
/// one sum over all their rows.
inline Tensor shared_matmul(const Tensor& a, const Tensor& b) {
  if (a.size(1) == b.size(1)) return matmul(a, b);
  const Index shared = b.size(1), rows = a.size(1) / shared * a.size(2);
  const Tensor y = matmul(reshape(a, {a.size(0), shared, rows, a.size(3)}), b);
  return reshape(y, a.shape().with(-1, b.size(3)));
}

/// The weights of attention after dropout: q [B, H, Tq, d], k [B, Hkv, Tk, d] -> [B, H, Tq, Tk]. Dropout draws once
/// per weight. The scores, the weights and the dropped weights pass through offer(name, value), which may change
/// them.
template <class Offer>
Tensor plain_weights(const Tensor& q, const Tensor& k, const AttentionOptions& o, const Generator& random,
                     const Offer& offer) {
  const Index queries = q.size(2), keys = k.size(2);
  Tensor scores = shared_matmul(q, transpose(k, -2, -1)) * o.scale_for(q.size(3));  // how well keys match queries
  if (o.alibi.defined()) {
    const double first = static_cast<double>(keys - queries), end = static_cast<double>(keys);
    const Tensor distances = abs(unsqueeze(arange(first, end), 1) - arange(end));  // the queries are the last positions
    scores = scores - unsqueeze(unsqueeze(o.alibi, 1), 1) * distances;
  }
  scores = offer("scores", scores);
  Mask seen = o.mask;
  if (o.causal.value_or(false)) {
    const Mask past = causal_mask(queries, keys, o.window);
    seen = seen.defined() ? seen & past : past;
  }
  const Tensor weights = offer("weights", seen.defined() ? masked_softmax(scores, seen) : softmax(scores));
  return offer("dropped_weights", dropout(weights, o.dropout.value_or(0), random));
}

/// softmax(q k^T scale) v, which is a weighted mean of the values for each query: q [B, H, Tq, d], k [B, Hkv, Tk, d],
/// v [B, Hkv, Tk, dv] -> [B, H, Tq, dv].
inline Tensor plain_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o = {},
                              const Generator& random = Generator()) {
  return shared_matmul(plain_weights(q, k, o, random, offer_value), v);
}

}  // namespace mote
