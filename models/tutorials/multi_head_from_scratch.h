// The classes of "Multi-Head from Scratch": attention that returns its weights, and a transformer block whose norms
// come after the residual sums.
#pragma once

#include <cmath>
#include <limits>
#include <utility>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/softmax.h"
#include "nn/activation.h"
#include "nn/dropout.h"
#include "nn/heads.h"
#include "nn/linear.h"
#include "nn/norm.h"
#include "nn/sequential.h"

namespace mote::tutorials::multi_head_from_scratch {

/// The tutorial's multi-head attention, which also returns its weights. Q [B, Tq, d_model], K and V [B, Tk, d_model] ->
/// (output [B, Tq, d_model], weights [B, num_heads, Tq, Tk] after dropout). The projections have no biases. Only in the
/// tutorial's compact copy W_o has one (out_bias). Scores become -infinity where the mask is 0 or false. The mask
/// broadcasts to the shape of the weights. Gradients also flow through the weights. mote's MultiHeadAttention with
/// {.dropout = p}, {.bias = false, .out_bias = out_bias} computes the same up to rounding, except for a query that may
/// attend to nothing. For such a query the heads of mote's class give 0, and those of this class give NaN. Errors: a
/// d_model that num_heads does not divide, sizes below 1, inputs of another width.
struct MultiHeadAttention : Layer<MultiHeadAttention> {
  Index d_model, num_heads, d_k;
  Linear W_q, W_k, W_v, W_o;
  Dropout dropout;
  double scale;

  MultiHeadAttention(Integer width, Integer heads, const Generator& random, Real p = 0.1, Flag out_bias = false)
      : d_model(width),
        num_heads(checked_heads("MultiHeadAttention", width, heads, 0, 0, {})),
        d_k(width / heads),
        W_q(width, width, random, false),
        W_k(width, width, random, false),
        W_v(width, width, random, false),
        W_o(width, width, random, out_bias),
        dropout(p, random),
        scale(std::sqrt(static_cast<double>(d_k))) {}

  /// Splits the columns into heads: [B, T, d_model] -> [B, num_heads, T, d_k].
  Tensor split_heads(const Tensor& x) const { return mote::split_heads(x, num_heads); }
  /// Joins the heads: [B, num_heads, T, d_k] -> [B, T, d_model].
  Tensor combine_heads(const Tensor& x) const { return join_heads(x); }

  /// The attention of all heads: Q [B, num_heads, Tq, d_k], K and V [B, num_heads, Tk, d_k] -> (output [B, num_heads,
  /// Tq, d_k], weights [B, num_heads, Tq, Tk] after dropout).
  std::pair<Tensor, Tensor> scaled_dot_product(const Tensor& Q, const Tensor& K, const Tensor& V,
                                               const Mask& mask = {}) const {
    Tensor scores = matmul(Q, transpose(K, -2, -1)) / static_cast<real>(scale);
    if (mask.defined()) scores = masked_fill(scores, ~mask, -std::numeric_limits<double>::infinity());
    const Tensor attn = dropout(softmax(scores, -1));
    return {matmul(attn, V), attn};
  }

  std::pair<Tensor, Tensor> forward(const Tensor& Q, const Tensor& K, const Tensor& V, const Mask& mask = {}) const {
    const Tensor q = split_heads(W_q(Q));
    const Tensor k = split_heads(W_k(K));
    const Tensor v = split_heads(W_v(V));
    const auto [attn_output, attn_weights] = scaled_dot_product(q, k, v, mask);
    return {W_o(combine_heads(attn_output)), attn_weights};
  }
  std::pair<Tensor, Tensor> forward(const Tensor& Q, const Tensor& K, const Tensor& V, const Tensor& mask) const {
    return forward(Q, K, V, mask != Tensor(0));
  }
  void visit(Visitor& v) override {
    v("W_q", W_q);
    v("W_k", W_k);
    v("W_v", W_v);
    v("W_o", W_o);
    v("dropout", dropout);
  }
};

/// The tutorial's transformer block: x = norm1(x + dropout(self_attn(x))), then norm2(x + dropout(ffn(x))). ffn ends in
/// a Dropout of its own, so dropout acts twice on the output of ffn. x [B, T, d_model] -> (x, weights [B, num_heads, T,
/// T] after dropout). In evaluation mode, mote's TransformerBlock with {.attention = {.causal = false}, .projections =
/// {.bias = false}, .norm_order = NormOrder::post, .n_inner = d_ff} computes the same up to rounding. In training,
/// mote's block applies dropout only once to that output. Errors: those of MultiHeadAttention.
struct TransformerBlock : Layer<TransformerBlock> {
  MultiHeadAttention self_attn;
  LayerNorm norm1;
  Sequential ffn;
  LayerNorm norm2;
  Dropout dropout;

  TransformerBlock(Integer d_model, Integer num_heads, Integer d_ff, const Generator& random, Real p = 0.1)
      : self_attn(d_model, num_heads, random, p),
        norm1(d_model),
        ffn{Linear(d_model, d_ff, random), GELU(), Linear(d_ff, d_model, random), Dropout(p, random)},
        norm2(d_model),
        dropout(p, random) {}

  std::pair<Tensor, Tensor> forward(const Tensor& x, const Mask& mask = {}) const {
    const auto [attn_out, attn_weights] = self_attn(x, x, x, mask);
    const Tensor y = norm1(x + dropout(attn_out));
    const Tensor ffn_out = ffn(y);
    return {norm2(y + dropout(ffn_out)), attn_weights};
  }
  std::pair<Tensor, Tensor> forward(const Tensor& x, const Tensor& mask) const { return forward(x, mask != Tensor(0)); }
  void visit(Visitor& v) override {
    v("self_attn", self_attn);
    v("norm1", norm1);
    v("ffn", ffn);
    v("norm2", norm2);
    v("dropout", dropout);
  }
};

}  // namespace mote::tutorials::multi_head_from_scratch
