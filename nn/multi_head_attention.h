// MultiHeadAttention, the general attention layer. It has separate projections, for one input or three, of any widths.
#pragma once

#include <optional>

#include "nn/dropout.h"
#include "nn/heads.h"
#include "nn/linear.h"

namespace mote {

/// The options of MultiHeadAttention that are not in AttentionOptions, which has those of the attention formula.
struct MultiHeadAttentionOptions {
  bool bias = true;                   ///< whether the projections of queries, keys and values have a bias
  std::optional<bool> out_bias = {};  ///< whether the output projection has a bias; not given: as `bias`
  Index n_kv_head = 0;    ///< heads of keys and values, each shared by n_head / n_kv_head heads of queries; 0: n_head
  Index block_size = 0;   ///< the longest input that the layer accepts; 0: any length
  Index d_in = 0;         ///< width of the queries' input; 0: the layer's width
  Index key_width = 0;    ///< width of the keys' input (PyTorch's kdim); 0: d_in
  Index value_width = 0;  ///< width of the values' input (PyTorch's vdim); 0: d_in
  /// Draws the weights as torch.nn.MultiheadAttention does. The output projection is drawn first, as a Linear, and its
  /// bias is set to 0. Then the weights of the other projections are drawn uniformly within Xavier's bound, and their
  /// biases are 0. If false, all projections are drawn as Linear, in field order.
  bool torch_init = false;
};

/// y = join(softmax(mask(q k^T / sqrt(d))) v) W_o + b_o for H heads of width d = width / H: x [B, T, d_in] ->
/// [B, T, width]. q, k, v are projections of one input (self-attention) or of three (cross-attention). In
/// cross-attention, k and v may have another length than q, and a batch of one broadcasts. Each head attends
/// independently, and the output projection mixes the heads. A mask is true where a query may attend to a key. The
/// mask broadcasts to [B, H, Tq, Tk], and combines with causal. key_padding() makes such a mask from a mask [B, T] of
/// the keys. Errors of the constructor: a width that H does not divide; an H that n_kv_head does not divide; widths
/// below 1; a window without causal. Errors of a call: inputs of other widths; T above block_size; a mask that does
/// not broadcast. Source: Vaswani et al. 2017.
struct MultiHeadAttention : Layer<MultiHeadAttention> {
  Index n_head, n_kv_head, block_size;
  AttentionOptions options;
  Linear q_proj, k_proj, v_proj, o_proj;
  Dropout attn_dropout;

  MultiHeadAttention(Integer width, Integer heads, const Init& init, const AttentionOptions& attention = {},
                     const MultiHeadAttentionOptions& around = {});

  /// Self-attention.
  Tensor forward(const Tensor& x, const Mask& mask = {}) const { return forward(x, x, x, mask); }
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const Mask& mask = {}) const;

  /// Returns the same output as a call, bit for bit, together with the attention weights of every head.
  AttentionOutput with_weights(const Tensor& x, const Mask& mask = {}) const { return with_weights(x, x, x, mask); }
  AttentionOutput with_weights(const Tensor& query, const Tensor& key, const Tensor& value,
                               const Mask& mask = {}) const;

  void visit(Visitor& v) override {
    v("q_proj", q_proj);
    v("k_proj", k_proj);
    v("v_proj", v_proj);
    v("o_proj", o_proj);
    v("attn_dropout", attn_dropout);
  }

 private:
  MultiHeadAttention(const MultiHeadAttentionOptions& around, Index width, Index heads, const Init& init,
                     const AttentionOptions& attention);
  void check_input(const char* role, const Tensor& x, const Linear& projection) const;
};

}  // namespace mote
