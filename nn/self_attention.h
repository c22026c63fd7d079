// SelfAttention, the causal attention layer of GPT-2, with one projection for queries, keys and values.
#pragma once

#include <optional>

#include "engine/ops/kv_cache.h"
#include "nn/attention_weights.h"
#include "nn/dropout.h"
#include "nn/heads.h"
#include "nn/linear.h"
#include "nn/position.h"

namespace mote {

/// The options of SelfAttention that are not in AttentionOptions, which has those of the attention formula.
struct SelfAttentionOptions {
  std::optional<bool> bias = {};             ///< whether the projections have a bias; not given: true
  std::optional<bool> out_bias = {};         ///< whether the output projection has a bias; not given: as `bias`
  std::optional<double> resid_dropout = {};  ///< dropout on the output; not given: that of the attention weights
  Index n_kv_head = 0;   ///< heads of keys and values, each shared by n_head / n_kv_head heads of queries; 0: n_head
  Index block_size = 0;  ///< the longest input that the layer accepts; 0: any length
  std::optional<RotaryOptions> rotary = {};  ///< rotates queries and keys by their positions
};

/// y = join(softmax(causal(q k^T / sqrt(d))) v) W_o + b_o with q | k | v = x W + b, for H heads of width d = C / H: x
/// [B, T, C] -> [B, T, C]. Each head attends independently, and the output projection mixes the heads. Attention is
/// causal by default. A mask is true where a query may attend to a key, and broadcasts to [B, H, T, T]. The causal rule
/// also holds with a mask: a query attends only to keys that both allow. The names are nanoGPT's. Errors of the
/// constructor: a C that H does not divide; an H that n_kv_head does not divide; a block_size below 0. Errors of a
/// call: inputs of another width; T above block_size; a mask that does not broadcast. Sources: Vaswani et al. 2017; the
/// form is GPT-2's.
struct SelfAttention : Layer<SelfAttention> {
  Index n_head, n_kv_head, n_embd, block_size;
  AttentionOptions options;
  Linear c_attn;  ///< queries | keys | values
  Linear c_proj;
  Dropout attn_dropout, resid_dropout;
  std::optional<Rotary> rotary;

  SelfAttention(Integer width, Integer heads, const Init& init, const AttentionOptions& attention = {},
                const SelfAttentionOptions& around = {})
      : n_head(heads),
        n_kv_head(checked_heads("SelfAttention", width, heads, around.n_kv_head, around.block_size, causal(attention))),
        n_embd(width),
        block_size(around.block_size),
        options(causal(attention)),
        c_attn(width, width + 2 * kv_width(), init, around.bias.value_or(true)),
        c_proj(width, width, init, around.out_bias.value_or(around.bias.value_or(true))),
        attn_dropout(attention.dropout.value_or(0), init.random()),
        resid_dropout(around.resid_dropout.value_or(attn_dropout.p), init.random()) {
    if (around.rotary) rotary.emplace(width / heads, *around.rotary, block_size);
  }

  /// With a cache, x [B, t, C] holds the tokens that follow those in the cache, and their keys and values are appended
  /// to the cache. The result equals, bit for bit, the last t rows of a pass over all tokens. engine/ops/kv_cache.h
  /// says why. Errors with a cache: attention that is not causal; NoGrad is not active; dropout is active; a mask; a
  /// cache for another window.
  Tensor forward(const Tensor& x, const Mask& mask = {}, KeyValueCache* cache = nullptr) const {
    check_in("SelfAttention", !cache || attn_dropout.now() + resid_dropout.now() == 0,
             "a cache is for evaluation: call eval() first");
    const Index start = cache ? cache->length() : 0;  // the position of x's first token
    check_in("SelfAttention", x.dim() == 3 && x.size(2) == n_embd, "x ", x.shape(), " must be [B, T, ", n_embd, "]");
    check_in("SelfAttention", block_size == 0 || start + x.size(1) <= block_size, "the length T = ", start + x.size(1),
             " is above block_size ", block_size, start > 0 ? ", with the tokens in the cache" : "");
    AttentionOptions how = options;
    how.mask = mask;
    how.dropout = attn_dropout.now();
    Tensor qkv = c_attn(x);  // [B, T, queries | keys | values], in each part the heads side by side
    if (rotary) qkv = (*rotary)(qkv, start, n_head + n_kv_head);
    return resid_dropout(c_proj(attention(qkv, {n_head, n_kv_head}, how, attn_dropout.random, cache)));
  }

  /// An empty cache for this layer.
  KeyValueCache cache() const { return KeyValueCache(options.window); }

  void visit(Visitor& v) override {
    v("c_attn", c_attn);
    v("c_proj", c_proj);
    v("attn_dropout", attn_dropout);
    v("resid_dropout", resid_dropout);
  }

 private:
  static AttentionOptions causal(AttentionOptions o) {
    o.causal = o.causal.value_or(true);
    return o;
  }
  Index kv_width() const { return n_kv_head * (n_embd / n_head); }
};

}  // namespace mote
