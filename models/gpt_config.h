// GPTConfig, the sizes and switches of a decoder language model, and presets of well-known ones.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "nn/fields.h"
#include "nn/transformer_block.h"

namespace mote {

/// How a model knows where a token is.
enum class Position {
  learned,     ///< a trained vector per position, added to the token's vector (GPT-2)
  sinusoidal,  ///< waves of fixed lengths, added to the token's vector times sqrt(C) (the original transformer)
  rotary,      ///< queries and keys rotated by their positions (Llama)
  alibi,       ///< attention scores reduced by distance times a slope; each head has its own slope
  none         ///< only the causal mask tells positions apart
};
constexpr auto words(Position) {
  return std::to_array<Word<Position>>({{Position::learned, "learned"},
                                        {Position::sinusoidal, "sinusoidal"},
                                        {Position::rotary, "rotary"},
                                        {Position::alibi, "alibi"},
                                        {Position::none, "none"}});
}

/// The sizes and switches of a GPT. Defaults are nanoGPT's: the smallest GPT-2, without dropout.
struct GPTConfig {
  Index block_size = 1024;   ///< the longest context
  Index vocab_size = 50304;  ///< V
  Index n_layer = 12;
  Index n_head = 12;        ///< must divide n_embd
  Index n_embd = 768;       ///< C
  double dropout = 0;       ///< everywhere, unless block.attention or block.projections have their own
  bool bias = true;         ///< in all layers but lm_head, unless block.projections say otherwise
  bool tie_weights = true;  ///< lm_head.weight and transformer.wte.weight are one parameter
  Position position = Position::learned;
  double rotary_base = 10000;          ///< for Position::rotary, see RotaryOptions
  TransformerBlockOptions block = {};  ///< the other options of the blocks: block.norm, block.attention.window, ...

  template <class V>
  void visit(V& v) {
    v("block_size", block_size, "longest context");
    v("vocab_size", vocab_size, "tokens in the vocabulary");
    v("n_layer", n_layer, "blocks");
    v("n_head", n_head, "attention heads in each block");
    v("n_embd", n_embd, "width");
    v("dropout", dropout, "dropout probability, everywhere in the model");
    v("bias", bias, "biases in layer norms and linear layers");
    v("tie_weights", tie_weights, "use one matrix for the token embedding and the logits");
    v("position", position, "how the model is told the position of a token");
    v("rotary_base", rotary_base, "pair i of a head's d columns rotates by position * base^(-2i/d)",
      {.needs = position == Position::rotary ? "" : "--position rotary"});
    v("window", block.attention.window, "number of newest tokens that a token sees, itself included; 0: all");
    v("scale", block.attention.scale, "factor of attention scores; default: 1 / sqrt(width of a head)");
    v("attn_dropout", block.attention.dropout, "dropout of attention weights; default: as dropout");
    v("resid_dropout", block.projections.resid_dropout,
      "dropout of what attention and feed-forward networks add; default: as dropout");
    v("attention_bias", block.projections.bias, "biases in the attention's projections; default: as bias");
    v("n_kv_head", block.projections.n_kv_head,
      "number of heads of keys and values, which must divide n_head; 0: n_head");
    v("norm", block.norm, "the kind of norm");
    v("norm_order", block.norm_order,
      "pre: a norm before attention and feed-forward network; post: a norm after each residual sum");
    v("norm_eps", block.norm_eps, "what norms add to the variance");
    v("feed_forward", block.feed_forward, "whether blocks have a feed-forward network; false: attention only");
    const FieldUse feeds{.needs = block.feed_forward ? "" : "--feed_forward true"};
    v("activation", block.activation, "the activation of the feed-forward networks", feeds);
    v("n_inner", block.n_inner, "width of the feed-forward networks; 0: 4 n_embd, with swiglu 8/3 n_embd", feeds);
  }

  /// The smallest GPT-2 (124M): biases, GELU in its tanh form, V = 50257.
  static GPTConfig gpt2();
  /// The model that nanoGPT trains: the smallest GPT-2 without biases, with exact GELU and V = 50304.
  static GPTConfig nanogpt();
  /// Llama's design in the sizes of the smallest GPT-2: RMSNorm, rotary positions, SwiGLU, four heads of keys and
  /// values, no biases, untied weights. If four does not divide n_head, also set block.projections.n_kv_head, or use
  /// resized().
  static GPTConfig llama();
  /// Two blocks of attention without feed-forward networks. The heads of such a model are the easiest to understand.
  static GPTConfig attention_only();

  struct Preset {
    const char* name;
    GPTConfig (*make)();
  };
  static const std::array<Preset, 4>& presets();
  /// The preset of this name. Errors: a name that is not in presets().
  static GPTConfig preset(const std::string& name);

  /// The same kind of model in other sizes. If n_kv_head does not divide the new n_head, each head of queries gets
  /// keys and values of its own.
  GPTConfig resized(Integer layers, Integer heads, Integer width) const;

  /// How many parameters the model has. With swiglu and without n_inner the number is rounded, because the inner width
  /// is rounded up to a multiple of 32. The number is in floating point, so that no size makes it overflow.
  double parameters() const;

  /// Whether a context may be longer than block_size. This is so if attention has a window, and positions are neither
  /// learned nor sinusoidal.
  bool unbounded() const {
    return block.attention.window > 0 && position != Position::learned && position != Position::sinusoidal;
  }

  /// The options of this model's blocks: `block`, with dropout, bias, block_size and positions from this config.
  /// Errors: attention that is not causal; a `block` that sets dropout, bias, block_size, rotary or alibi itself (the
  /// last two are chosen by `position`).
  TransformerBlockOptions block_options() const;
};

/// The config of a GPT, made from fields as text, such as those of a Recipe (train/loop/recipe.h). The field "preset"
/// is set first, wherever it stands in the list, and the other fields then change the preset. If no field sets
/// n_kv_head, and the preset's n_kv_head does not divide n_head, n_kv_head becomes 0. Errors: a field that a GPT does
/// not have, a text that is no value of its field.
GPTConfig gpt_config(const FieldValues& values, Integer vocab_size, Integer block_size);

}  // namespace mote
