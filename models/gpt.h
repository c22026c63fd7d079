// GPT, the decoder language model with nanoGPT's names, and the options with which it generates.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "engine/ops/ops.h"
#include "models/gpt_config.h"
#include "nn/nn.h"

namespace mote {

/// How generate() chooses the next token: top_k, then temperature, then top_p, then min_p.
struct GenerateOptions {
  double temperature = 1;  ///< 0: always the likeliest token (greedy), of equal ones the first
  Index top_k = 0;         ///< only the k likeliest tokens, and tokens as likely as the k-th; 0: all
  double top_p = 1;        ///< only the likeliest tokens, as few as have a total probability of top_p; 1: all
  double min_p = 0;        ///< only tokens at least min_p times as likely as the likeliest one; 0: all
  Index stop_token = -1;   ///< a row that generates this id is finished; -1: none
  Index pad_token = -1;    ///< the id that fills the left of shorter prompts, see pad_left(); -1: none
  bool use_cache = true;   ///< false: recomputes the whole context for each token, with the same result
  /// Called after every step with the newest token of each row, [B]. Return false to stop. A finished row repeats
  /// pad_token, or stop_token if there is no pad_token, until all rows are finished.
  std::function<bool(const IntArray& newest)> on_token = {};

  /// The id that a finished row repeats.
  Index filler() const { return pad_token >= 0 ? pad_token : stop_token; }

  template <class V>
  void visit(V& v) {
    v("temperature", temperature, "0: always the likeliest token; a larger one makes unlikely tokens more likely");
    v("top_k", top_k, "only the k likeliest tokens; 0: all");
    v("top_p", top_p, "only the likeliest tokens whose probabilities add up to p; 1: all");
    v("min_p", min_p, "only tokens whose probability is at least this share of the largest one; 0: all");
    v("stop_token", stop_token, "the id of the token that ends a text; -1: none");
    v("use_cache", use_cache, "keep keys and values of earlier tokens");
  }
};

/// The keys and values of every layer, for a text that is being generated. GPT::cache() makes one for its model.
struct GPTCache {
  std::vector<KeyValueCache> layers;
  Parameter token_table = {};  ///< the token embedding of the cache's model
  Index length() const { return layers.empty() ? 0 : layers[0].length(); }
  void clear() {
    for (KeyValueCache& layer : layers) layer.clear();
  }
};

/// A decoder language model: token plus position embedding, n_layer blocks, a final norm, and a projection to logits.
/// Weights are drawn in visit order, each once. Matrices are N(0, 0.02). Those that feed a residual sum (c_proj) are
/// N(0, 0.02 / sqrt(2 n_layer)). Biases are 0, and the weights of norms are 1. With Init::none no matrix is drawn,
/// because the weights will be loaded. With Init::twice matrices are drawn as in nanoGPT, so the weights are those of
/// nanoGPT for the same seed. First the layers draw PyTorch's defaults. Then all matrices are drawn N(0, 0.02), a tied
/// one twice. Finally the matrices named c_proj are drawn again. Sources: GPT-2 (Radford et al. 2019), nanoGPT's
/// layout.
struct GPT : Layer<GPT> {
  struct Transformer : Layer<Transformer> {
    Embedding wte;
    std::optional<LearnedPositions> wpe;  ///< config.position says whether wpe, waves or neither is there
    std::optional<SinusoidalPositions> waves;
    Dropout drop;
    std::vector<TransformerBlock> h;
    std::optional<ChosenNorm> ln_f;  ///< none with NormOrder::post
    Transformer(const GPTConfig& config, const Init& init);
    /// The sum of token and position embedding: ids [B, T] -> [B, T, C], the input of the first block. The first id is
    /// at position `start`.
    Tensor embed(const IntArray& ids, Integer start = 0) const;
    /// ids [B, T] -> [B, T, C], the input of lm_head. For the mask and the cache see GPT::forward(). Errors: T above
    /// block_size, an id outside [0, V).
    Tensor forward(const IntArray& ids, const Mask& mask = {}, GPTCache* cache = nullptr) const;
    void visit(Visitor& v) override;
  };

  GPTConfig config;
  Transformer transformer;
  Linear lm_head;

  /// Errors: sizes below 1; n_embd that n_head does not divide; n_head that n_kv_head does not divide; a window or
  /// n_inner below 0; rotary positions with heads of odd width; a dropout that is not a probability; those of
  /// block_options().
  GPT(const GPTConfig& config, const Init& init);
  __attribute__((unavailable("pass the Generator that weights are drawn from: GPT(config, random)"))) explicit GPT(
      const GPTConfig& config);

  /// Logits for every position: ids [B, T] -> [B, T, V]. A mask is true where a query may attend to a key. It
  /// broadcasts to [B, H, T, T] and combines with the causal mask. Positions count from the first id of a row, masked
  /// or not.
  ///
  /// With a cache, ids [B, t] are the tokens that follow those in the cache, and the result is [B, t, V]. The logits
  /// are equal in every bit to those of the last t positions in a pass over all tokens. The keys and values of the new
  /// tokens are appended to the cache. Earlier keys and values in the cache stay as they are, even if weights change.
  /// Errors: more than block_size tokens in all, unless the config is unbounded(). With a cache also: gradients enabled
  /// (no NoGrad); training with dropout; a mask; another model's cache; a different B. After an error the cache is
  /// unchanged.
  Tensor forward(const IntArray& ids, const Mask& mask = {}, GPTCache* cache = nullptr) const;
  /// An empty cache.
  GPTCache cache() const;
  /// Mean cross-entropy over the targets that are not -1: ids, targets [B, T] -> rank 0. For the mask see forward().
  Tensor loss(const IntArray& ids, const IntArray& targets, const Mask& mask = {}, Real label_smoothing = 0) const;
  /// The log probability of each token but the first, given all tokens before it: log p(ids[t + 1] | ids[0 .. t]). ids
  /// [B, T] -> [B, T - 1]. Gradients flow through the result. The negative mean of the result equals, in every bit, the
  /// loss of predicting each next token. Call eval() first, otherwise dropout takes part. Errors: those of forward()
  /// for all ids but the last.
  Tensor log_probabilities(const IntArray& ids) const;

  /// Generates `count` more tokens after each prompt: ids [B, T] -> [B, T + count]. The context is the last block_size
  /// tokens, or all tokens if the config is unbounded(). Samples by multinomial(), which takes as many numbers from the
  /// random stream as torch.multinomial: 2 B V 32-bit words for each step. So the same weights and seed give the same
  /// tokens as nanoGPT's generate(). A row that has generated the stop token is finished, and is filled with pad_token,
  /// or with the stop token if there is no pad_token. Generation ends when all rows are finished.
  ///
  /// Rows that begin with options.pad_token are shorter prompts. No token attends to the padding, and positions count
  /// from the first id after it. So a row's logits are those of its prompt alone, in every bit. Prompts of the same
  /// length run as one batch.
  ///
  /// Each call makes a packed copy of the weights, which takes as much memory as the weights. Around many short calls,
  /// make one PackedWeights yourself, so that the weights are packed only once. Before the call uses a cache, it runs
  /// one row with a cache and without. If the results differ, a layer of your own looks at other positions but has no
  /// cache, and the call throws an error. The call runs without gradients and in evaluation mode. Afterwards every
  /// module has its earlier mode again. Several threads may generate with one model, each with a Generator of its own,
  /// while no thread trains the model.
  ///
  /// Errors: an empty prompt; a count below 0; a temperature below 0 or not finite; top_p outside (0, 1]; min_p
  /// outside [0, 1]; a stop token outside [0, V); a row of nothing but padding; logits that are NaN or infinity. A
  /// logit of -infinity is no error, and its token is never chosen.
  IntArray generate(const IntArray& ids, Integer count, const GenerateOptions& options, const Generator& random);
  /// Generates greedily, with temperature 0.
  IntArray generate(const IntArray& ids, Integer count) {
    return generate(ids, count, {.temperature = 0}, Generator());
  }

  void visit(Visitor& v) override {
    v("transformer", transformer);
    v("lm_head", lm_head);
  }
};

/// Joins prompts of different lengths to one batch [B, T] for generate(). Shorter prompts are filled with `pad` on the
/// left. `pad` need not be in the vocabulary. Errors: an empty prompt, a prompt that begins with `pad`.
IntArray pad_left(const std::vector<std::vector<Index>>& prompts, Integer pad);

/// The perplexity e^loss of a mean loss in nats. It is the number of equally likely choices that would have the same
/// loss.
inline double perplexity(Real loss) { return math::exp(loss); }

}  // namespace mote
