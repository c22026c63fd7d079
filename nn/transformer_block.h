// TransformerBlock: attention and a feed-forward network, each with a norm and a residual connection.
#pragma once

#include <array>
#include <optional>

#include "engine/ops/arithmetic.h"
#include "nn/feed_forward.h"
#include "nn/multi_head_attention.h"
#include "nn/norm.h"
#include "nn/self_attention.h"

namespace mote {

/// Where the norm is: before each part (GPT-2) or after each residual sum (the original transformer).
enum class NormOrder { pre, post };
constexpr auto words(NormOrder) {
  return std::to_array<Word<NormOrder>>({{NormOrder::pre, "pre"}, {NormOrder::post, "post"}});
}

/// The options of a block besides its sizes. Parts without a dropout or bias of their own use the block's.
struct TransformerBlockOptions {
  std::optional<double> dropout = {};     ///< in all parts; not given: 0
  std::optional<bool> bias = {};          ///< in the layer norms and in all parts; not given: true
  AttentionOptions attention = {};        ///< causal by default
  SelfAttentionOptions projections = {};  ///< the attention layer's other options
  bool separate = false;                  ///< projections of their own for queries, keys and values
  NormKind norm = NormKind::layer_norm;
  NormOrder norm_order = NormOrder::pre;
  double norm_eps = 1e-5;
  bool feed_forward = true;  ///< false: only attention and its residual connection
  Activation activation = Activation::gelu;
  Index n_inner =
      0;  ///< width inside the feed-forward network; 0: 4 C, with swiglu 8/3 C rounded up to a multiple of 32
  std::optional<bool> mlp_bias = {};  ///< in the feed-forward network; not given: as `bias`

  template <class V>
  void visit(V& v) {
    v("block_dropout", dropout, "dropout in the blocks; default: as dropout");
    v("block_bias", bias, "biases in the blocks; default: as bias");
    attention.visit(v);
    projections.visit(v);
    v("separate", separate, "projections of their own for queries, keys and values");
    v("norm", norm, "the kind of norm");
    v("norm_order", norm_order, "norms before each part, or after each residual sum");
    v("norm_eps", norm_eps, "what norms add to the variance");
    v("feed_forward", feed_forward, "false: blocks of attention alone");
    v("activation", activation, "the activation of the feed-forward networks");
    v("n_inner", n_inner, "width of the feed-forward networks; 0: 4 n_embd, with swiglu 8/3 n_embd");
    v("mlp_bias", mlp_bias, "biases in the feed-forward networks; default: as bias");
  }

  /// The same with all defaults filled in, for blocks of width C. Errors: an n_inner below 0.
  TransformerBlockOptions resolved(Index width) const {
    check_in("TransformerBlock", n_inner >= 0, "n_inner ", n_inner, " must be at least 0");
    TransformerBlockOptions o = *this;
    const auto follow = [](auto& part, auto whole) { part = part.value_or(whole); };
    follow(o.dropout, 0.0);
    follow(o.bias, true);
    follow(o.attention.dropout, *o.dropout);
    follow(o.projections.bias, *o.bias);
    follow(o.mlp_bias, *o.bias);
    if (o.n_inner == 0) o.n_inner = activation == Activation::swiglu ? (8 * width / 3 + 31) / 32 * 32 : 4 * width;
    return o;
  }
};

/// pre:  x + attn(ln_1(x)), then x + mlp(ln_2(x)).    post: ln_1(x + attn(x)), then ln_2(x + mlp(x)).
/// x [B, T, C] -> [B, T, C]. Names are nanoGPT's. Errors: those of the attention layer and of the options.
struct TransformerBlock : Layer<TransformerBlock> {
  Norm ln_1;
  std::optional<SelfAttention> attn;                ///< one fused projection; or, with `separate`,
  std::optional<MultiHeadAttention> separate_attn;  ///< three, under the same name "attn"
  std::optional<Norm> ln_2;
  std::optional<FeedForward> mlp;
  NormOrder norm_order;

  TransformerBlock(Index width, Index heads, const Init& init, const TransformerBlockOptions& given = {})
      : TransformerBlock(given.resolved(width), width, heads, init) {}

  Tensor forward(const Tensor& x, const Mask& mask = {}) const {
    return with_residuals(x, [&](const Tensor& in) { return attn ? (*attn)(in, mask) : (*separate_attn)(in, mask); });
  }
  /// The same for the tokens that follow those in `cache`; see SelfAttention.
  Tensor forward(const Tensor& x, KeyValueCache& cache) const {
    return with_residuals(x, [&](const Tensor& in) { return attn ? (*attn)(in, cache) : (*separate_attn)(in, cache); });
  }
  /// An empty cache for this block.
  KeyValueCache cache() const { return attn ? attn->cache() : separate_attn->cache(); }
  void visit(Visitor& v) override {
    v("ln_1", ln_1);
    v("attn", attn);
    v("attn", separate_attn);
    v("ln_2", ln_2);
    v("mlp", mlp);
  }

 private:
  TransformerBlock(const TransformerBlockOptions& o, Index width, Index heads, const Init& init)
      : ln_1(o.norm, width, o.norm_eps, *o.bias), norm_order(o.norm_order) {
    if (o.separate)
      separate_attn.emplace(width, heads, init, causal(o.attention), apart(o.projections, *o.attention.dropout));
    else
      attn.emplace(width, heads, init, o.attention, o.projections);
    if (!o.feed_forward) return;
    ln_2.emplace(o.norm, width, o.norm_eps, *o.bias);
    mlp.emplace(width, o.n_inner, init, o.activation, *o.dropout, *o.mlp_bias);
  }
  static AttentionOptions causal(AttentionOptions o) {
    o.causal = o.causal.value_or(true);
    return o;
  }
  static MultiHeadAttentionOptions apart(const SelfAttentionOptions& o, double dropout) {
    return {.bias = *o.bias,
            .out_bias = o.out_bias,
            .resid_dropout = o.resid_dropout.value_or(dropout),
            .n_kv_head = o.n_kv_head,
            .block_size = o.block_size,
            .rotary = o.rotary};
  }
  template <class Attend>
  Tensor with_residuals(const Tensor& x, const Attend& attend) const {
    if (norm_order == NormOrder::pre) {
      const Tensor y = x + attend(ln_1(x));
      return mlp ? y + (*mlp)((*ln_2)(y)) : y;
    }
    const Tensor y = ln_1(x + attend(x));
    return mlp ? (*ln_2)(y + (*mlp)(y)) : y;
  }
};

}  // namespace mote
