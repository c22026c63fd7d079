// The class of ApX Machine Learning's course page on multi-head attention: separate projections with biases, and a mask
// that sets scores to -1e9 where it is 0.
#pragma once

#include <cmath>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/softmax.h"
#include "nn/heads.h"
#include "nn/linear.h"

namespace mote::tutorials::apx {

/// The course's multi-head attention: W_o(join(softmax(scores) v)), where scores = q k^T / sqrt(d_k), or -1e9 where the
/// mask is 0. query [B, Tq, d_model], key and value [B, Tk, d_model] -> [B, Tq, d_model]. The mask, 0 or false where a
/// query may not attend, broadcasts to [B, num_heads, Tq, Tk]. There is no dropout, and the weights are not returned.
/// mote's MultiHeadAttention(d_model, num_heads, random) computes the same up to rounding, except for a query that may
/// attend to nothing. mote's class gives such a query the output projection of 0. This class gives it the output
/// projection of the mean of all values, because all its scores are equal. Errors: a d_model that num_heads does not
/// divide, sizes below 1, inputs of another width.
struct MultiHeadAttention : Layer<MultiHeadAttention> {
  Index d_model, num_heads, d_k;
  Linear W_q, W_k, W_v, W_o;

  MultiHeadAttention(Integer width, Integer heads, const Generator& random)
      : d_model(width),
        num_heads(checked_heads("MultiHeadAttention", width, heads, 0, 0, {})),
        d_k(width / heads),
        W_q(width, width, random),
        W_k(width, width, random),
        W_v(width, width, random),
        W_o(width, width, random) {}

  /// The attention of all heads: Q [B, num_heads, Tq, d_k], K and V [B, num_heads, Tk, d_k] -> [B, num_heads, Tq, d_k].
  Tensor scaled_dot_product_attention(const Tensor& Q, const Tensor& K, const Tensor& V, const Mask& mask = {}) const {
    Tensor attn_scores = matmul(Q, transpose(K, -2, -1)) / std::sqrt(static_cast<real>(d_k));
    if (mask.defined()) attn_scores = masked_fill(attn_scores, ~mask, -1e9);
    return matmul(softmax(attn_scores, -1), V);
  }

  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const Mask& mask = {}) const {
    const Tensor Q = split_heads(W_q(query), num_heads);  // [B, num_heads, Tq, d_k]
    const Tensor K = split_heads(W_k(key), num_heads);
    const Tensor V = split_heads(W_v(value), num_heads);
    return W_o(join_heads(scaled_dot_product_attention(Q, K, V, mask)));
  }
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) const {
    return forward(query, key, value, mask != Tensor(0));
  }
  void visit(Visitor& v) override {
    v("W_q", W_q);
    v("W_k", W_k);
    v("W_v", W_v);
    v("W_o", W_o);
  }
};

}  // namespace mote::tutorials::apx
