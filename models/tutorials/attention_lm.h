// AttentionLM, the smallest language model with attention. The repeat demo trains it.
#pragma once

#include "engine/ops/arithmetic.h"
#include "engine/ops/loss.h"
#include "nn/embedding.h"
#include "nn/position.h"
#include "nn/self_attention.h"

namespace mote {

/// The sizes of an AttentionLM.
struct AttentionLMConfig {
  Index vocab_size = 64;
  Index n_embd = 32;
  Index n_head = 4;
  Index block_size = 12;
  double dropout = 0;

  template <class V>
  void visit(V& v) {
    v("vocab_size", vocab_size, "tokens in the vocabulary");
    v("n_embd", n_embd, "width");
    v("n_head", n_head, "heads");
    v("block_size", block_size, "longest context");
    v("dropout", dropout, "probability of dropping, on attention weights and output");
  }
};

/// A language model with a single attention layer: head(attn(token(ids) + position)). The token embedding is drawn
/// N(0, 0.02), positions are sinusoidal, attention is causal, and the head has a bias. ids [B, T] -> logits [B, T, V].
/// Errors: T above block_size, n_embd that n_head does not divide, sizes below 1.
struct AttentionLM : Layer<AttentionLM> {
  Embedding token;
  SinusoidalPositions position;
  SelfAttention attn;
  Linear head;

  AttentionLM(const AttentionLMConfig& c, const Generator& random)
      : token(small_embedding(c, random)),
        position(c.block_size, c.n_embd),
        attn(c.n_embd, c.n_head, random, {.dropout = c.dropout}, {.block_size = c.block_size}),
        head(c.n_embd, c.vocab_size, random) {}

  Tensor forward(const IntArray& ids) const { return head(attn(embed(ids))); }
  Tensor loss(const IntArray& ids, const IntArray& targets, Real label_smoothing = 0) const {
    const Tensor logits = (*this)(ids);
    return cross_entropy(logits, targets, {.ignore_index = -1, .label_smoothing = label_smoothing});
  }

  void visit(Visitor& v) override {
    v("token", token);
    v("position", position);
    v("attn", attn);
    v("head", head);
  }

 private:
  Tensor embed(const IntArray& ids) const {
    check_in("AttentionLM", ids.rank() == 2, "ids ", ids.shape(), " must be [B, T]");
    const Tensor x = token(ids);
    return x + position(ids.shape()[1]);
  }
  /// Makes an Embedding with weights from N(0, 0.02), which replace the weights from N(0, 1) that its constructor
  /// draws.
  static Embedding small_embedding(const AttentionLMConfig& c, const Generator& random) {
    check_in("AttentionLM", c.vocab_size >= 1, "vocab_size ", c.vocab_size, " must be at least 1");
    check_in("AttentionLM", c.block_size >= 1, "block_size ", c.block_size, " must be at least 1");
    Embedding table(c.vocab_size, c.n_embd, random);
    init::normal(table.weight, 0, 0.02, random);
    return table;
  }
};

}  // namespace mote
