// The attention classes of "Build a Large Language Model (From Scratch)", chapter 3, under their names in the book:
// CausalAttention, MultiHeadAttentionWrapper, MultiHeadAttention with weight splits. They have the book's fields and
// draw the same weights.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/matmul.h"
#include "engine/ops/softmax.h"
#include "nn/dropout.h"
#include "nn/heads.h"
#include "nn/linear.h"

namespace mote::tutorials::book {

/// The chapter's attention: dropout(softmax(masked(q k^T) / sqrt(d))) v. Scores where `mask` is 1 become -infinity
/// before they are scaled. q, k, v [..., T, d]. mask [L, L] with L >= T, of which the first T rows and columns are
/// used.
inline Tensor attend(const Tensor& queries, const Tensor& keys, const Tensor& values, const Array& mask,
                     const Dropout& dropout) {
  const Index num_tokens = queries.size(-2);
  const Tensor attn_scores = matmul(queries, transpose(keys, -2, -1));
  const Mask mask_bool = Tensor(mask.slice(0, 0, num_tokens).slice(1, 0, num_tokens)) == Tensor(1);
  const Tensor masked = masked_fill(attn_scores, mask_bool, -std::numeric_limits<double>::infinity());
  const Tensor attn_weights = softmax(masked / std::sqrt(static_cast<real>(keys.size(-1))), -1);
  return matmul(dropout(attn_weights), values);
}

/// The causal mask [context_length, context_length], with ones above the diagonal, where a query may not attend.
inline Array blocked_future(Index context_length) {
  return triu(Array::full({context_length, context_length}, 1), 1).array();
}

/// Checks the sizes of a layer, and returns d_out. Errors: a size below 1.
inline Index checked_width(const char* who, Index d_in, Index d_out, Index context_length) {
  check_in(who, d_in >= 1, "d_in ", d_in, " must be at least 1");
  check_in(who, d_out >= 1, "d_out ", d_out, " must be at least 1");
  check_in(who, context_length >= 1, "context_length ", context_length, " must be at least 1");
  return d_out;
}

/// Checks the input of a layer. Errors: x is not [B, T, d_in], or T is above context_length, the size of `mask`.
inline void check_input(const char* who, const Tensor& x, Index d_in, const Array& mask) {
  check_in(who, x.dim() == 3 && x.size(2) == d_in, "x ", x.shape(), " must be [B, T, ", d_in, "]");
  check_in(who, x.size(1) <= mask.shape()[0], "the length T = ", x.size(1), " is above context_length ",
           mask.shape()[0]);
}

/// One head of causal attention: x [B, T, d_in] -> [B, T, d_out]. Errors: x of another width, T above context_length,
/// sizes below 1.
struct CausalAttention : Layer<CausalAttention> {
  Index d_out;
  Linear W_query, W_key, W_value;
  Dropout dropout;
  Array mask;  ///< a buffer: copied with the module, not trained

  CausalAttention(Integer d_in, Integer width, Integer context_length, Real drop, const Generator& random,
                  Flag qkv_bias = false)
      : d_out(checked_width("CausalAttention", d_in, width, context_length)),
        W_query(d_in, width, random, qkv_bias),
        W_key(d_in, width, random, qkv_bias),
        W_value(d_in, width, random, qkv_bias),
        dropout(drop, random),
        mask(blocked_future(context_length)) {}

  Tensor forward(const Tensor& x) const {
    check_input("CausalAttention", x, W_key.weight.shape()[1], mask);
    const Tensor keys = W_key(x);  // [B, T, d_out]
    const Tensor queries = W_query(x);
    const Tensor values = W_value(x);
    return attend(queries, keys, values, mask, dropout);
  }
  void visit(Visitor& v) override {
    v.buffer("mask", mask);
    v("W_query", W_query);
    v("W_key", W_key);
    v("W_value", W_value);
    v("dropout", dropout);
  }
};

/// Several heads side by side, each its own module: x [B, T, d_in] -> [B, T, num_heads * d_out].
struct MultiHeadAttentionWrapper : Layer<MultiHeadAttentionWrapper> {
  std::vector<CausalAttention> heads;

  MultiHeadAttentionWrapper(Integer d_in, Integer d_out, Integer context_length, Real drop, Integer num_heads,
                            const Generator& random, Flag qkv_bias = false) {
    check_in("MultiHeadAttentionWrapper", num_heads >= 1, "num_heads ", num_heads, " must be at least 1");
    for (Index i = 0; i < num_heads; ++i) heads.emplace_back(d_in, d_out, context_length, drop, random, qkv_bias);
  }
  Tensor forward(const Tensor& x) const {
    std::vector<Tensor> outputs;
    for (const CausalAttention& head : heads) outputs.push_back(head(x));
    return cat(outputs, -1);
  }
  void visit(Visitor& v) override { v("heads", heads); }
};

/// Multi-head attention with weight splits: x [B, T, d_in] -> [B, T, d_out]. Each projection computes the columns of
/// all heads in one product. The result is split into num_heads heads of head_dim columns. out_proj maps the joined
/// heads to the output. mote's own MultiHeadAttention, causal, with {.bias = qkv_bias, .out_bias = true, .d_in = d_in},
/// computes the same up to rounding. Errors: d_out that num_heads does not divide; those of CausalAttention.
struct MultiHeadAttention : Layer<MultiHeadAttention> {
  Index d_out, num_heads, head_dim;
  Linear W_query, W_key, W_value, out_proj;
  Dropout dropout;
  Array mask;

  MultiHeadAttention(Integer d_in, Integer width, Integer context_length, Real drop, Integer head_count,
                     const Generator& random, Flag qkv_bias = false)
      : d_out(checked_width("MultiHeadAttention", d_in, width, context_length)),
        num_heads(head_count),
        head_dim(split(width, head_count)),
        W_query(d_in, width, random, qkv_bias),
        W_key(d_in, width, random, qkv_bias),
        W_value(d_in, width, random, qkv_bias),
        out_proj(width, width, random),
        dropout(drop, random),
        mask(blocked_future(context_length)) {}

  Tensor forward(const Tensor& x) const {
    check_input("MultiHeadAttention", x, W_key.weight.shape()[1], mask);
    const Tensor keys = split_heads(W_key(x), num_heads);  // [B, num_heads, T, head_dim]
    const Tensor queries = split_heads(W_query(x), num_heads);
    const Tensor values = split_heads(W_value(x), num_heads);
    return out_proj(join_heads(attend(queries, keys, values, mask, dropout)));
  }
  void visit(Visitor& v) override {
    v.buffer("mask", mask);
    v("W_query", W_query);
    v("W_key", W_key);
    v("W_value", W_value);
    v("out_proj", out_proj);
    v("dropout", dropout);
  }

 private:
  static Index split(Index width, Index head_count) {
    check_in("MultiHeadAttention", head_count >= 1, "num_heads ", head_count, " must be at least 1");
    check_in("MultiHeadAttention", width % head_count == 0, "d_out ", width, " is not divisible by num_heads ",
             head_count);
    return width / head_count;
  }
};

}  // namespace mote::tutorials::book
