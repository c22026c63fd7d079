// TransformerBlock: attention and a feed-forward network, each with a norm and a residual connection.
#pragma once

#include <optional>

#include "engine/ops/arithmetic.h"
#include "nn/attention.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"

namespace mote {

/// Where the norm stands: before each part (GPT-2) or after each residual sum (the original transformer).
enum class NormOrder { pre, post };

/// What a block can be told besides its sizes.
struct TransformerBlockOptions {
  bool causal = true;
  double dropout = 0;
  bool bias = true;                   ///< in the layer norms
  bool attention_bias = true;         ///< in the attention's projections
  std::optional<bool> out_bias = {};  ///< in its output projection; not given: as attention_bias
  bool mlp_bias = true;               ///< in the feed-forward network
  Activation activation = Activation::gelu;
  NormOrder order = NormOrder::pre;
  Index hidden = 0;      ///< width inside the feed-forward network; 0: four times C
  Index block_size = 0;  ///< the longest input; 0: any
  NormKind norm = NormKind::layer_norm;
  double norm_eps = 1e-5;
  bool feed_forward = true;  ///< false: attention and its residual connection alone
  bool fused = true;         ///< see MultiHeadAttentionOptions, as are the rest
  Index n_kv_head = 0;
  Index window = 0;
  std::optional<RotaryOptions> rotary = {};
  bool alibi = false;
};

/// pre:  x + attn(ln_1(x)), then x + mlp(ln_2(x)).    post: ln_1(x + attn(x)), then ln_2(x + mlp(x)).
/// x [B, T, C] -> [B, T, C]. Names are nanoGPT's. Errors: C that the heads do not divide.
struct TransformerBlock : Layer<TransformerBlock> {
  Norm ln_1;
  MultiHeadAttention attn;
  std::optional<Norm> ln_2;
  std::optional<FeedForward> mlp;
  NormOrder order;

  TransformerBlock(Index width, Index heads, const Init& init, const TransformerBlockOptions& o = {})
      : ln_1(o.norm, width, o.norm_eps, o.bias), attn(width, heads, init, attention_options(o)), order(o.order) {
    if (!o.feed_forward) return;
    ln_2.emplace(o.norm, width, o.norm_eps, o.bias);
    mlp.emplace(width, o.hidden ? o.hidden : 4 * width, init, o.activation, o.dropout, o.mlp_bias);
  }

  Tensor forward(const Tensor& x, const Mask& mask = {}) const {
    return around(x, [&](const Tensor& in) { return attn(in, mask); });
  }
  /// The same for the tokens that follow those in `cache`; see MultiHeadAttention.
  Tensor forward(const Tensor& x, KeyValueCache& cache) const {
    return around(x, [&](const Tensor& in) { return attn(in, cache); });
  }
  /// The same output, bit for bit, and the attention's weights.
  Attended with_weights(const Tensor& x, const Mask& mask = {}) const {
    const detail::OpenLayer here(*this);
    Attended attended;
    attended.output = around(x, [&](const Tensor& in) {
      attended = attn.with_weights(in, mask);
      return attended.output;
    });
    return attended;
  }
  void visit(Visitor& v) override {
    v("ln_1", ln_1);
    v("attn", attn);
    v("ln_2", ln_2);
    v("mlp", mlp);
  }

 private:
  template <class Attend>
  Tensor around(const Tensor& x, const Attend& attend) const {
    if (order == NormOrder::pre) {
      const Tensor y = x + attend(ln_1(x));
      return mlp ? y + (*mlp)((*ln_2)(y)) : y;
    }
    const Tensor y = ln_1(x + attend(x));
    return mlp ? (*ln_2)(y + (*mlp)(y)) : y;
  }
  static MultiHeadAttentionOptions attention_options(const TransformerBlockOptions& o) {
    MultiHeadAttentionOptions a;
    a.causal = o.causal, a.bias = o.attention_bias, a.out_bias = o.out_bias, a.dropout = o.dropout;
    a.block_size = o.block_size;
    a.fused = o.fused, a.n_kv_head = o.n_kv_head, a.window = o.window;
    a.rotary = o.rotary, a.alibi = o.alibi;
    return a;
  }
};

}  // namespace mote
