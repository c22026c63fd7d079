// What is here: MultiHeadAttention.
// What is not: the attention formula (engine/ops/attention.h).
// Read next: transformer_block.h.
#pragma once

#include "engine/ops/attention.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace mote {

/// What MultiHeadAttention can be told besides its sizes.
struct MultiHeadAttentionOptions {
  bool causal = false;   ///< a token sees only itself and the tokens before it
  bool bias = true;      ///< biases in both projections
  double dropout = 0;    ///< on the weights and, as in GPT-2, on the output
  Index block_size = 0;  ///< the longest input it accepts; 0: any
  /// Draws as torch.nn.MultiheadAttention does: first c_proj as a Linear, its bias then zeroed, and then c_attn uniform
  /// within Xavier's bound, biases 0. Otherwise two Linear layers are drawn, c_attn first.
  bool torch_init = false;
};

/// The output beside the weights [B, H, T, T] (before dropout).
struct Attended {
  Tensor output;
  Array weights;
};

/// Self-attention with H heads: x [B, T, C] -> [B, T, C]. One projection c_attn gives [q | k | v], each cut into H
/// heads of C / H; every head attends on its own; c_proj mixes them again. Names are nanoGPT's. mask: true = may
/// attend, broadcastable to [B, H, T, T]. Errors: C that H does not divide, x of another width, T above block_size.
struct MultiHeadAttention : Layer<MultiHeadAttention> {
  Linear c_attn, c_proj;
  Dropout attn_dropout, resid_dropout;
  Index n_head, n_embd;
  MultiHeadAttentionOptions options;

  MultiHeadAttention(Index width, Index heads, const Init& init, const MultiHeadAttentionOptions& given = {})
      : c_attn(width, 3 * checked(width, heads), given.torch_init ? Init::none(init.random()) : init, given.bias),
        c_proj(width, width, init, given.bias),
        attn_dropout(given.dropout, init.random()),
        resid_dropout(given.dropout, init.random()),
        n_head(heads),
        n_embd(width),
        options(given) {
    if (!given.torch_init || !init.draws()) return;
    if (given.bias) init::constant(c_proj.bias, 0);
    init::xavier_uniform(c_attn.weight, init.random());
  }

  Tensor forward(const Tensor& x, const Mask& mask = {}) const { return attend(x, mask, nullptr); }
  /// The same output, bit for bit, and what each head looked at.
  Attended with_weights(const Tensor& x, const Mask& mask = {}) const {
    const detail::OpenLayer here(*this);
    Attended result;
    result.output = attend(x, mask, &result.weights);
    return result;
  }

  void visit(Visitor& v) override {
    v("c_attn", c_attn);
    v("c_proj", c_proj);
    v("attn_dropout", attn_dropout);
    v("resid_dropout", resid_dropout);
  }

 private:
  static Index checked(Index width, Index heads) {
    check_in("MultiHeadAttention", width >= 1 && heads >= 1, "width ", width, " and heads ", heads,
             " must be at least 1");
    check_in("MultiHeadAttention", width % heads == 0, "width ", width, " is not divisible by ", heads, " heads");
    return width;
  }

  Tensor attend(const Tensor& x, const Mask& mask, Array* weights) const {
    check_in("MultiHeadAttention", x.dim() == 3 && x.size(2) == n_embd, "x ", x.shape(), " must be [B, T, ", n_embd,
             "]");
    check_in("MultiHeadAttention", options.block_size == 0 || x.size(1) <= options.block_size, "T = ", x.size(1),
             " is above block_size ", options.block_size);
    const Index B = x.size(0), T = x.size(1), head = n_embd / n_head;
    const Tensor qkv = c_attn(x);          // [B, T, 3C]
    const auto heads = [&](Index which) {  // [B, T, C] -> [B, H, T, head]: views, nothing is copied
      return transpose(reshape(slice(qkv, 2, which * n_embd, (which + 1) * n_embd), {B, T, n_head, head}), 1, 2);
    };
    const Tensor q = heads(0);
    const Tensor k = heads(1);
    const Tensor v = heads(2);
    AttentionOptions how{options.causal, mask, attn_dropout.training() ? attn_dropout.p : 0, &attn_dropout.random,
                         weights};
    const Tensor y = attention(q, k, v, how);                           // [B, H, T, head]
    const Tensor merged = reshape(transpose(y, 1, 2), {B, T, n_embd});  // heads side by side again
    return resid_dropout(c_proj(merged));
  }
};

}  // namespace mote
