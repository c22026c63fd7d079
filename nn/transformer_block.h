// TransformerBlock: attention and a feed-forward network, each with a norm and a residual connection.
#pragma once

#include <array>
#include <optional>

#include "engine/ops/arithmetic.h"
#include "nn/activation.h"
#include "nn/feed_forward.h"
#include "nn/norm.h"
#include "nn/self_attention.h"

namespace mote {

/// Where a norm is: before attention and before the feed-forward network (GPT-2), or after each residual sum (the
/// original transformer).
enum class NormOrder { pre, post };
constexpr auto words(NormOrder) {
  return std::to_array<Word<NormOrder>>({{NormOrder::pre, "pre"}, {NormOrder::post, "post"}});
}

/// The options of a block besides its sizes. Its two parts, attention and feed-forward network, use the block's
/// dropout and bias unless their own are given.
struct TransformerBlockOptions {
  std::optional<double> dropout = {};     ///< on attention weights, and on attention's and mlp's outputs; not given: 0
  std::optional<bool> bias = {};          ///< whether layer norms, attention and mlp have biases; not given: true
  AttentionOptions attention = {};        ///< causal by default
  SelfAttentionOptions projections = {};  ///< attention's other options; mlp also uses resid_dropout
  NormKind norm = NormKind::layer_norm;
  NormOrder norm_order = NormOrder::pre;
  double norm_eps = 1e-5;
  bool feed_forward = true;  ///< false: only attention and its residual connection
  Activation activation = Activation::gelu;
  /// Width inside the feed-forward network. 0: 4 C, or with swiglu 8/3 C rounded up to a multiple of 32.
  Index n_inner = 0;

  /// These options with all defaults filled in, for blocks of width C. Errors: a width below 1, an n_inner below 0.
  TransformerBlockOptions resolved(Index width) const {
    check_in("TransformerBlock", width >= 1 && width <= Shape::max_numel, "width ", width, " is not in [1, ",
             Shape::max_numel, "]");
    check_in("TransformerBlock", n_inner >= 0, "n_inner ", n_inner, " must be at least 0");
    TransformerBlockOptions o = *this;
    const auto follow = [](auto& part, auto whole) { part = part.value_or(whole); };
    follow(o.dropout, 0.0);
    follow(o.bias, true);
    follow(o.attention.dropout, *o.dropout);
    follow(o.projections.bias, *o.bias);
    follow(o.projections.resid_dropout, *o.dropout);
    if (o.n_inner == 0) o.n_inner = activation == Activation::swiglu ? (8 * width / 3 + 31) / 32 * 32 : 4 * width;
    return o;
  }
};

/// Attention and a feed-forward network, each with a norm and a residual connection: x [B, T, C] -> [B, T, C].
/// pre:  x + attn(ln_1(x)), then x + mlp(ln_2(x)).    post: ln_1(x + attn(x)), then ln_2(x + mlp(x)).
/// The names are nanoGPT's. Errors: those of the attention layer and of the options.
struct TransformerBlock : Layer<TransformerBlock> {
  ChosenNorm ln_1;
  SelfAttention attn;
  std::optional<ChosenNorm> ln_2;
  std::optional<FeedForward> mlp;
  NormOrder norm_order;

  TransformerBlock(Integer width, Integer heads, const Init& init, const TransformerBlockOptions& given = {})
      : TransformerBlock(given.resolved(width), width, heads, init) {}

  /// SelfAttention explains `mask` and `cache`.
  Tensor forward(const Tensor& x, const Mask& mask = {}, KeyValueCache* cache = nullptr) const {
    if (norm_order == NormOrder::pre) {
      const Tensor y = x + attn(ln_1(x), mask, cache);
      return mlp ? y + (*mlp)((*ln_2)(y)) : y;
    }
    const Tensor y = ln_1(x + attn(x, mask, cache));
    return mlp ? (*ln_2)(y + (*mlp)(y)) : y;
  }
  /// An empty cache for this block.
  KeyValueCache cache() const { return attn.cache(); }
  void visit(Visitor& v) override {
    v("ln_1", ln_1.layer);
    v("attn", attn);
    if (ln_2) v("ln_2", ln_2->layer);
    v("mlp", mlp);
  }

 private:
  TransformerBlock(const TransformerBlockOptions& o, Index width, Index heads, const Init& init)
      : ln_1(o.norm, width, o.norm_eps, *o.bias),
        attn(width, heads, init, o.attention, o.projections),
        norm_order(o.norm_order) {
    if (!o.feed_forward) return;
    ln_2.emplace(o.norm, width, o.norm_eps, *o.bias);
    mlp.emplace(width, o.n_inner, init, o.activation, *o.projections.resid_dropout, *o.bias);
  }
};

}  // namespace mote
