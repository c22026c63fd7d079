// What is here: TransformerBlock: attention and a feed-forward network, each with a norm and a residual connection.
// What is not: the stack of blocks (models/gpt.h).
// Read next: ../models/gpt.h.
#pragma once

#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/layer_norm.h"

namespace mote {

/// Where the norm stands: before each part (GPT-2) or after each residual sum (the original transformer).
enum class NormOrder { pre, post };

struct TransformerBlockOptions {
  bool causal = true;
  double dropout = 0;
  bool bias = true;            ///< in the layer norms
  bool attention_bias = true;  ///< in the attention's projections
  bool mlp_bias = true;        ///< in the feed-forward network
  Activation activation = Activation::gelu;
  NormOrder order = NormOrder::pre;
  Index hidden = 0;      ///< width inside the feed-forward network; 0: four times C
  Index block_size = 0;  ///< the longest input; 0: any
};

/// pre:  x + attn(ln_1(x)), then x + mlp(ln_2(x)).    post: ln_1(x + attn(x)), then ln_2(x + mlp(x)).
/// x [B, T, C] -> [B, T, C]. Names are nanoGPT's. Errors: C that the heads do not divide.
struct TransformerBlock : Layer<TransformerBlock> {
  LayerNorm ln_1;
  MultiHeadAttention attn;
  LayerNorm ln_2;
  FeedForward mlp;
  NormOrder order;

  TransformerBlock(Index width, Index heads, const Init& init, const TransformerBlockOptions& o = {})
      : ln_1(width, 1e-5, o.bias),
        attn(width, heads, init, {.causal = o.causal, .bias = o.attention_bias, .dropout = o.dropout, .block_size = o.block_size}),
        ln_2(width, 1e-5, o.bias),
        mlp(width, o.hidden ? o.hidden : 4 * width, init, o.activation, o.dropout, o.mlp_bias),
        order(o.order) {}

  Tensor forward(const Tensor& x, const Mask& mask = {}) const {
    if (order == NormOrder::pre) {
      const Tensor y = x + attn(ln_1(x), mask);
      return y + mlp(ln_2(y));
    }
    const Tensor y = ln_1(x + attn(x, mask));
    return ln_2(y + mlp(y));
  }
  void visit(Visitor& v) override {
    v("ln_1", ln_1);
    v("attn", attn);
    v("ln_2", ln_2);
    v("mlp", mlp);
  }
};

}  // namespace mote
