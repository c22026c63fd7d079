// MultiHeadAttention: one layer for every attention that tutorials build, by options.
#pragma once

#include <optional>

#include "engine/ops/attention.h"
#include "nn/dropout.h"
#include "nn/kv_cache.h"
#include "nn/linear.h"
#include "nn/position.h"

namespace mote {

/// What MultiHeadAttention can be told besides its sizes.
struct MultiHeadAttentionOptions {
  bool causal = false;   ///< a token sees only itself and the tokens before it
  bool bias = true;      ///< biases in the projections of queries, keys and values
  double dropout = 0;    ///< on the weights
  Index block_size = 0;  ///< the longest input it accepts; 0: any
  /// Draws as torch.nn.MultiheadAttention does: first the output projection as a Linear, its bias then zeroed, and then
  /// the others uniform within Xavier's bound, biases 0. Otherwise Linear layers are drawn in the order of their names.
  bool torch_init = false;

  std::optional<bool> out_bias = {};         ///< a bias in the output projection; not given: as `bias`
  std::optional<double> resid_dropout = {};  ///< dropout on the output; not given: as `dropout` (GPT-2's habit)
  bool fused = true;      ///< one projection c_attn and c_proj, as nanoGPT; false: q_proj, k_proj, v_proj and o_proj
  Index n_kv_head = 0;    ///< heads of keys and values; n_head / n_kv_head heads share each; 0: n_head
  Index window = 0;       ///< with causal: a token sees itself and the window - 1 tokens before it; 0: all
  Index d_in = 0;         ///< width of the input, or of the queries' one; 0: width
  Index d_out = 0;        ///< width of the output; 0: width
  Index key_width = 0;    ///< not fused: width of the keys' input (PyTorch's kdim); 0: d_in
  Index value_width = 0;  ///< not fused: width of the values' input (PyTorch's vdim); 0: d_in
  Index value_head = 0;   ///< width of a head's values (d_v); 0: that of its queries, width / heads
  std::optional<RotaryOptions> rotary = {};  ///< turns queries and keys by their positions
  /// Takes slope * distance off the scores. Positions in cross-attention: rotary counts queries and keys each from 0;
  /// alibi, causal and window put the last of both side by side.
  bool alibi = false;
};

/// The output beside the weights [B, H, Tq, Tk], before and after dropout (the same while nothing is dropped). Weights
/// are numbers to look at: no gradient flows through them.
struct Attended {
  Tensor output;
  Array weights, dropped_weights;
};

/// y = join(softmax(mask(q k^T / sqrt(d))) v) W_o + b_o over H heads of d = width / H: x [B, T, d_in] -> [B, T, d_out].
/// q, k, v are projections of one input (self-attention) or of three (cross-attention; k and v may be longer or shorter
/// than q; a batch of one serves all rows of the others). Each head attends on its own; the output projection mixes
/// them. A mask is boolean, true = may attend, broadcastable to [B, H, Tq, Tk]; causal and a mask both hold. Errors: a
/// width that H does not divide, an H that n_kv_head does not divide, widths below 1, a window without causal,
/// key_width or value_width with fused; inputs of other widths, T above block_size, a mask of numbers or of another
/// shape, fused with three inputs. Sources: Vaswani et al. 2017; the fused form and its names are nanoGPT's.
struct MultiHeadAttention : Layer<MultiHeadAttention> {
  std::optional<Linear> c_attn, q_proj, k_proj, v_proj;  ///< the first alone, or the other three
  Linear c_proj;                                         ///< the output projection; called o_proj when not fused
  Dropout attn_dropout, resid_dropout;
  Index n_head, n_embd, n_kv_head, head_width, value_head;
  std::optional<Rotary> rotary;
  MultiHeadAttentionOptions options;

  MultiHeadAttention(Index width, Index heads, const Init& init, const MultiHeadAttentionOptions& given = {});

  Tensor forward(const Tensor& x, const Mask& mask = {}) const { return run(x, x, x, mask, false).output; }
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const Mask& mask = {}) const {
    return run(query, key, value, mask, false).output;
  }
  /// The same for the tokens that follow those in `cache`, which afterwards has these too: x [B, t, d_in]. Equal in
  /// every bit to the last t rows of the whole pass. Errors: not causal, not under NoGrad or with dropout on, a cache
  /// for another window.
  Tensor forward(const Tensor& x, KeyValueCache& cache) const;
  /// Always an error: a mask of numbers could mean two opposite things, or be meant to be added.
  Tensor forward(const Tensor& x, const Tensor& mask) const;
  Tensor forward(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) const;

  /// The same output, bit for bit, and what each head looked at.
  Attended with_weights(const Tensor& x, const Mask& mask = {}) const { return with_weights(x, x, x, mask); }
  Attended with_weights(const Tensor& query, const Tensor& key, const Tensor& value, const Mask& mask = {}) const;
  Attended with_weights(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) const;
  Attended with_weights(const Tensor& x, const Tensor& mask) const;  ///< always an error, as above

  /// An empty cache for this layer.
  KeyValueCache cache() const { return KeyValueCache(options.window); }

  void visit(Visitor& v) override;

 private:
  Array slopes_;  // of ALiBi, if it is on: [H]
  struct Projected {
    Tensor q, k, v;  // [B, H, T, width of a head], views
  };
  Projected project(const Tensor& query, const Tensor& key, const Tensor& value, Index position) const;
  Attended run(const Tensor& query, const Tensor& key, const Tensor& value, const Mask& mask, bool weights) const;
  Tensor output_of(const Tensor& heads) const;
  AttentionOptions how(const Mask& mask) const;
  void check_input(const char* role, const Tensor& x, Index width) const;
};

}  // namespace mote
