// Attention as its formula has it, in ops that are documented elsewhere: what attention() computes faster, bit for bit.
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

/// softmax(q k^T * scale) v, where a query attends only to the keys that the mask keeps: q [..., Tq, d], k [..., Tk,
/// d], v [..., Tk, dv] -> [..., Tq, dv]; scale is usually 1 / sqrt(d). Without a mask all may attend to all.
inline Tensor plain_attention(const Tensor& q, const Tensor& k, const Tensor& v, const Mask& mask, real scale) {
  const Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;  // [..., Tq, Tk]: how well each key answers each query
  const Tensor weights = mask.defined() ? masked_softmax(scores, mask) : softmax(scores);
  return matmul(weights, v);  // for each query a mean of the values
}

/// k or v [..., Hkv, T, d] with each of its heads repeated for all heads of queries that share it: [..., H, T, d].
inline Tensor repeat_heads(const Tensor& x, Index heads) {
  if (x.dim() < 3 || x.size(-3) == heads) return x;
  const Shape one = x.shape(), each = one.insert(-3, heads / one[-3]);
  return reshape(expand(unsqueeze(x, -3), each), one.with(-3, heads));
}

/// How well keys answer queries, before masks: [..., H, Tq, Tk].
inline Tensor plain_scores(const Tensor& q, const Tensor& k, const AttentionOptions& o) {
  const Index queries = q.size(-2), keys = k.size(-2);
  const Tensor scores = matmul(q, transpose(k, -2, -1)) * o.formula(q.size(-1)).scale;
  if (o.alibi.defined()) {  // the queries are the last positions
    const double first = static_cast<double>(keys - queries), end = static_cast<double>(keys);
    const Tensor distances = abs(unsqueeze(arange(first, end), 1) - arange(end));
    return scores - unsqueeze(unsqueeze(o.alibi, 1), 1) * distances;
  }
  return scores;
}

/// The weights of attention with all its options but dropout: [..., H, Tq, Tk].
inline Tensor plain_weights(const Tensor& q, const Tensor& k, const AttentionOptions& o) {
  const Tensor scores = offer_value("scores", plain_scores(q, k, o));
  Mask mask = o.mask;
  if (o.causal.value_or(false)) {
    const Mask past = causal_mask(q.size(-2), k.size(-2), o.window);
    mask = mask.defined() ? mask & past : past;
  }
  return offer_value("weights", mask.defined() ? masked_softmax(scores, mask) : softmax(scores));
}

/// attention() with all its options. Dropout draws once per weight.
inline Tensor plain_attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& o,
                              const Generator& random = Generator()) {
  const Index heads = q.dim() < 3 ? 1 : q.size(-3);
  const Tensor weights = plain_weights(q, repeat_heads(k, heads), o);
  const Tensor kept = offer_value("dropped_weights", dropout(weights, o.dropout.value_or(0), random));
  return offer_value("heads", matmul(kept, repeat_heads(v, heads)));
}

}  // namespace mote
