// GPTConfig, the sizes and switches of a decoder language model, and presets of well-known ones.
#pragma once

#include <optional>
#include <string>

#include "nn/transformer_block.h"

namespace mote {

/// How a model knows where a token stands.
enum class Position {
  learned,     ///< a trained vector per position, added to the token's (GPT-2)
  sinusoidal,  ///< waves of fixed lengths, added to the token's times sqrt(C) (the original transformer)
  rotary,      ///< queries and keys turned by their positions (Llama)
  alibi,       ///< distance taken off the attention scores, more in some heads than in others
  none         ///< only the causal mask tells positions apart
};
/// By its name above. Errors: any other word.
Position position_from(const std::string& name);

/// The sizes and switches of a GPT. Defaults are nanoGPT's: the smallest GPT-2, without dropout.
struct GPTConfig {
  Index block_size = 1024;   ///< the longest context
  Index vocab_size = 50304;  ///< V
  Index n_layer = 12;
  Index n_head = 12;   ///< must divide n_embd
  Index n_embd = 768;  ///< C
  double dropout = 0;
  bool bias = true;  ///< in the layer norms and, unless the next two say otherwise, in the linear layers
  std::optional<bool> attention_bias = {};  ///< in the attention's projections; not given: as `bias`
  std::optional<bool> mlp_bias = {};        ///< in the feed-forward networks; not given: as `bias`
  bool tie_weights = true;                  ///< lm_head.weight and transformer.wte.weight are one parameter
  Activation activation = Activation::gelu;

  Position position = Position::learned;
  RotaryOptions rotary = {};  ///< for Position::rotary: base and the share of columns that turns; length 0: block_size
  Index n_kv_head = 0;        ///< heads of keys and values, a divisor of n_head; 0: n_head
  Index window = 0;  ///< a token sees itself and the window - 1 before it; 0: all before it. See also unbounded()
  NormKind norm = NormKind::layer_norm;
  NormOrder norm_order = NormOrder::pre;  ///< post: no norm after the last block, as each ends with one
  double norm_eps = 1e-5;
  bool feed_forward = true;  ///< false: blocks of attention alone
  Index n_inner = 0;  ///< width of the feed-forward networks; 0: 4 C, with swiglu 8/3 C rounded up to a multiple of 32

  /// GPT-2's smallest (124M): biases, GELU by its tanh form, V = 50257.
  static GPTConfig gpt2();
  /// What nanoGPT trains: the same without biases, exact GELU, V = 50304.
  static GPTConfig nanogpt();
  /// Llama's way with GPT-2's smallest sizes: RMSNorm, rotary positions, SwiGLU, four heads of keys and values, no
  /// biases, nothing tied. With an n_head that four does not divide set n_kv_head, too, or use resized().
  static GPTConfig llama();
  /// Attention and residual sums only: the models in which heads are easiest to understand.
  static GPTConfig attention_only();
  /// "gpt2", "nanogpt", "llama" or "attention_only". Errors: any other word.
  static GPTConfig preset(const std::string& name);

  /// The same kind of model in other sizes. Where the heads of keys and values do not divide n_head, each head gets its
  /// own.
  GPTConfig resized(Index layers, Index heads, Index width) const;

  /// n_inner with its default worked out.
  Index inner() const;
  /// Whether a context may be longer than block_size: with a window, and positions that are not a table.
  bool unbounded() const {
    return window > 0 && (position == Position::rotary || position == Position::alibi || position == Position::none);
  }
};

}  // namespace mote
