// The classes of "AI engineering from scratch", lesson 33: multi-head self-attention as a model uses it, a demo model,
// a causality check, a heatmap. Names are those of the program behind the lesson.
#pragma once

#include <string>
#include <utility>

#include "nn/dropout.h"
#include "nn/embedding.h"
#include "nn/linear.h"
#include "nn/position.h"

namespace mote::tutorials::ai_engineering {

/// Stands for return_weights=True of the lesson: attn(x, return_weights) also returns the attention weights.
struct ReturnWeights {};
inline constexpr ReturnWeights return_weights;

/// The lesson's multi-head self-attention: out_dropout(out_proj(merge(attn_dropout(softmax(causal(q k^T /
/// sqrt(d_head)))) v))), where q | k | v = qkv_proj(x). x [B, T, d_model] -> [B, T, d_model], T up to
/// max_context_length. With return_weights it also returns the weights [B, n_heads, T, T] after dropout, through which
/// gradients flow. mote's SelfAttention with {.dropout = attn_dropout}, {.resid_dropout = out_dropout, .block_size =
/// max_context_length} computes the same up to rounding. Errors: sizes below 1, a d_model that n_heads does not
/// divide; x of another rank or width, T above max_context_length.
struct MultiHeadSelfAttention : Layer<MultiHeadSelfAttention> {
  Index d_model, n_heads, d_head, max_context_length;
  Linear qkv_proj, out_proj;
  Dropout attn_dropout, out_dropout;
  /// A lower triangle of ones. A query may not attend to a key where the mask is 0. Each call uses its first T rows and
  /// columns. It is a buffer: copied with the module, not trained.
  Array causal_mask;

  MultiHeadSelfAttention(Integer width, Integer heads, Integer longest, const Generator& random, Real attn_p = 0.0,
                         Real out_p = 0.0);

  Tensor forward(const Tensor& x) const { return forward(x, return_weights).first; }
  std::pair<Tensor, Tensor> forward(const Tensor& x, ReturnWeights) const;
  void visit(Visitor& v) override {
    v.buffer("causal_mask", causal_mask);
    v("qkv_proj", qkv_proj);
    v("out_proj", out_proj);
    v("attn_dropout", attn_dropout);
    v("out_dropout", out_dropout);
  }
};

/// The settings of the lesson's demo.
struct DemoConfig {
  Index vocab_size = 64, d_model = 32, n_heads = 4, seq_len = 12;
  Index batch_size = 16, n_epochs = 3, steps_per_epoch = 120;
  double learning_rate = 5e-3;
  Index seed = 42;
};

/// The lesson's demo model: lm_head(attn(token_emb(ids) + pos_emb)), ids [B, T] -> logits [B, T, V]. With
/// return_weights it also returns the attention weights. The token embedding is drawn N(0, 0.02), and positions are
/// sinusoidal. mote's AttentionLM draws the same weights and computes the same up to rounding. Errors: those of
/// MultiHeadSelfAttention, ids that are not [B, T].
struct TinyAttentionLM : Layer<TinyAttentionLM> {
  Embedding token_emb;
  SinusoidalPositions pos_emb;
  MultiHeadSelfAttention attn;
  Linear lm_head;

  TinyAttentionLM(Integer vocab_size, Integer d_model, Integer n_heads, Integer max_context_length,
                  const Generator& random);
  TinyAttentionLM(const DemoConfig& c, const Generator& random)
      : TinyAttentionLM(c.vocab_size, c.d_model, c.n_heads, c.seq_len, random) {}

  Tensor forward(const IntArray& ids) const { return forward(ids, return_weights).first; }
  std::pair<Tensor, Tensor> forward(const IntArray& ids, ReturnWeights) const;
  void visit(Visitor& v) override {
    v("token_emb", token_emb);
    v("pos_emb", pos_emb);
    v("attn", attn);
    v("lm_head", lm_head);
  }
};

/// Numbers that show whether attention weights [..., T, T] are causal. `future` is the largest sum of absolute weights
/// above the diagonal of a [T, T] square. The lesson asks for less than 1e-5. smallest_row and largest_row are the
/// smallest and the largest sum of a row, which should be 1.
struct Causality {
  double future = 0, smallest_row = 0, largest_row = 0;
};
/// Measures the causality of attention weights [..., T, T]. Errors: weights that are not squares, or empty.
Causality causality(const Array& weights);
/// The lines that the lesson prints about the causality of weights.
std::string causality_text(const Array& weights);

/// The lesson's heatmap of weights [Tq, Tk]: a line per query, a character per key, in ten steps from ' ' (below 0.1)
/// to '@'. Errors: another rank.
std::string heatmap(const Array& weights);

}  // namespace mote::tutorials::ai_engineering
