// What is here: GPT, the decoder language model, and its config, with nanoGPT's names.
// What is not: training (train/), tasks (train/tasks/).
// Read next: gpt.cpp.
#pragma once

#include <functional>

#include "engine/ops/ops.h"
#include "nn/nn.h"

namespace mote {

/// The sizes and switches of a GPT. Defaults are nanoGPT's: the smallest GPT-2, without dropout.
struct GPTConfig {
  Index block_size = 1024;   ///< the longest context
  Index vocab_size = 50304;  ///< V
  Index n_layer = 12;
  Index n_head = 12;   ///< must divide n_embd
  Index n_embd = 768;  ///< C
  double dropout = 0;
  bool bias = true;         ///< in the layer norms and, unless the next two say otherwise, in the linear layers
  int attention_bias = -1;  ///< 0 or 1: biases in the attention's projections; -1: as `bias`
  int mlp_bias = -1;        ///< 0 or 1: biases in the feed-forward networks; -1: as `bias`
  bool tie_weights = true;  ///< lm_head.weight and transformer.wte.weight are one parameter
  Activation activation = Activation::gelu;
};

/// How generate() chooses the next token.
struct GenerateOptions {
  double temperature = 1;  ///< 0: always the likeliest (greedy, the first of equals)
  Index top_k = 0;         ///< only the k likeliest, and what equals the last of them, may be chosen; 0: all
};

/// A decoder language model: token plus position embedding, n_layer pre-norm blocks, a last norm, and a projection to
/// logits. Weights are drawn in visit order, each once: matrices N(0, 0.02), those that feed a residual sum (c_proj)
/// N(0, 0.02 / sqrt(2 n_layer)), biases 0, norms 1 and 0. Sources: GPT-2 (Radford et al. 2019), nanoGPT's layout.
struct GPT : Layer<GPT> {
  struct Transformer : Layer<Transformer> {
    Embedding wte;
    LearnedPositions wpe;
    Dropout drop;
    std::vector<TransformerBlock> h;
    LayerNorm ln_f;
    Transformer(const GPTConfig& config, const Init& init);
    /// Token plus position: ids [B, T] -> [B, T, C], what the first block sees.
    Tensor embed(const Tokens& ids) const;
    /// ids [B, T] -> [B, T, C]: what lm_head turns into logits. Errors: T above block_size, an id outside [0, V).
    Tensor forward(const Tokens& ids) const;
    void visit(Visitor& v) override;
  };

  GPTConfig config;
  Transformer transformer;
  Linear lm_head;

  /// Errors: sizes below 1, n_embd that n_head does not divide, a dropout that is no probability.
  GPT(const GPTConfig& config, const Generator& random);

  /// Logits for every position: ids [B, T] -> [B, T, V].
  Tensor forward(const Tokens& ids) const;
  /// Mean cross-entropy over the targets that are not -1: ids, targets [B, T] -> rank 0.
  Tensor loss(const Tokens& ids, const Tokens& targets) const;

  /// What each head of a block attends to, in evaluation mode: ids [B, T] -> [B, H, T, T]. Errors: no such layer.
  Array attention_weights(const Tokens& ids, Index layer);

  /// `count` more tokens after each prompt: ids [B, T] -> [B, T + count]. The context is the last block_size tokens.
  /// Samples by multinomial(), so with the same weights and seed it writes the tokens that nanoGPT's generate() writes.
  /// Runs without gradients and in evaluation mode; afterwards every module is in the mode it was in. Errors: an empty
  /// prompt, a count below 0, a temperature below 0 or not finite, logits that are NaN.
  Tokens generate(const Tokens& ids, Index count, const GenerateOptions& options, const Generator& random);
  /// The same, greedy.
  Tokens generate(const Tokens& ids, Index count) { return generate(ids, count, {0, 0}, Generator()); }

  void visit(Visitor& v) override {
    v("transformer", transformer);
    v("lm_head", lm_head);
  }

 private:
  void check_ids(const Tokens& ids) const;
};

/// The exponent of the mean loss in nats: e^loss, the number of equally likely choices the model hesitates between.
inline double perplexity(double loss) { return math::exp(loss); }

}  // namespace mote
