// What is here: scaled dot-product attention, and the causal mask.
// What is not: projections and heads (nn/attention.h).
// Read next: loss.h.
#pragma once

#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/dropout.h"
#include "engine/ops/matmul.h"
#include "engine/ops/softmax.h"
#include "engine/ops/view.h"

namespace mote {

/// Who may attend to whom in a causal model: true where key <= query. Shape [queries, keys]; with more keys than
/// queries the queries are the last ones. Errors: fewer keys than queries.
inline Mask causal_mask(Index queries, Index keys) {
  check_in("causal_mask", keys >= queries, queries, " queries need at least as many keys, not ", keys);
  Mask m({queries, keys});
  std::uint8_t* const out = m.mutate();
  for (Index i = 0; i < queries; ++i)
    for (Index j = 0; j < keys; ++j) out[i * keys + j] = j <= i + keys - queries;
  return m;
}
inline Mask causal_mask(Index length) { return causal_mask(length, length); }

/// What attention can be told besides its inputs.
struct AttentionOptions {
  bool causal = false;                ///< a query sees only keys at its own position and before
  Mask mask = {};                     ///< true = may attend; broadcasts to [..., Tq, Tk]; combines with causal
  double dropout = 0;                 ///< probability of dropping a weight (training only: the caller decides)
  const Generator* random = nullptr;  ///< the stream dropout draws from
  Array* weights = nullptr;           ///< receives the weights [..., Tq, Tk], before dropout; no bit changes by it
};

/// softmax(q k^T / sqrt(d)) v over the keys: q [..., Tq, d], k [..., Tk, d], v [..., Tk, dv] -> [..., Tq, dv]. A query
/// that may attend to nothing gives zeros and zero gradients. Errors: widths of q and k, or lengths of k and v, that
/// differ; a mask that does not broadcast. Source: Vaswani et al. 2017.
inline Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {}) {
  const Op op("attention");  // names errors; what is recorded are the ops below
  check_in("attention", q.dim() >= 2 && k.dim() >= 2 && v.dim() >= 2, "q ", q.shape(), ", k ", k.shape(), " and v ",
           v.shape(), " need a length and a width");
  check_in("attention", q.size(-1) == k.size(-1), "q ", q.shape(), " and k ", k.shape(),
           " differ in their last extent");
  check_in("attention", k.size(-2) == v.size(-2), "k ", k.shape(), " and v ", v.shape(), " differ in their length");
  check(options.dropout >= 0 && options.dropout <= 1, "dropout = ", options.dropout, " is not a probability");
  const real scale = real(1) / std::sqrt(static_cast<real>(q.size(-1)));
  const Tensor scores = matmul(q, transpose(k, -2, -1)) * scale;
  Mask keep = options.mask;
  if (options.causal) {
    const Mask past = causal_mask(q.size(-2), k.size(-2));
    keep = keep.defined() ? keep & past : past;
  }
  Tensor weights = keep.defined() ? masked_softmax(scores, keep) : softmax(scores, -1);
  if (options.weights) *options.weights = weights.array();
  if (options.dropout > 0) {
    check_in("attention", options.random != nullptr, "dropout needs a generator");
    weights = dropout(weights, options.dropout, *options.random);
  }
  return matmul(weights, v);
}

}  // namespace mote
