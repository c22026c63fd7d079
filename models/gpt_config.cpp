// The presets of GPTConfig.
#include "models/gpt_config.h"

namespace mote {

Position position_from(const std::string& name) {
  if (name == "learned") return Position::learned;
  if (name == "sinusoidal") return Position::sinusoidal;
  if (name == "rotary") return Position::rotary;
  if (name == "alibi") return Position::alibi;
  if (name == "none") return Position::none;
  throw Error("position '" + name + "' is none of learned, sinusoidal, rotary, alibi, none");
}

GPTConfig GPTConfig::gpt2() {
  GPTConfig c;
  c.vocab_size = 50257;
  c.activation = Activation::gelu_tanh;
  return c;
}

GPTConfig GPTConfig::nanogpt() {
  GPTConfig c;
  c.bias = false;
  return c;
}

GPTConfig GPTConfig::llama() {
  GPTConfig c;
  c.vocab_size = 32000;
  c.bias = false;
  c.tie_weights = false;
  c.activation = Activation::swiglu;
  c.position = Position::rotary;
  c.n_kv_head = 4;
  c.norm = NormKind::rms_norm;
  return c;
}

GPTConfig GPTConfig::attention_only() {
  GPTConfig c;
  c.feed_forward = false;
  c.n_layer = 2;
  c.tie_weights = false;
  return c;
}

GPTConfig GPTConfig::preset(const std::string& name) {
  if (name == "gpt2") return gpt2();
  if (name == "nanogpt") return nanogpt();
  if (name == "llama") return llama();
  if (name == "attention_only") return attention_only();
  throw Error("preset '" + name + "' is none of gpt2, nanogpt, llama, attention_only");
}

GPTConfig GPTConfig::resized(Index layers, Index heads, Index width) const {
  GPTConfig c = *this;
  c.n_layer = layers, c.n_head = heads, c.n_embd = width;
  if (n_kv_head > 0 && heads % n_kv_head != 0) c.n_kv_head = 0;
  return c;
}

Index GPTConfig::inner() const {
  if (n_inner > 0) return n_inner;
  return activation == Activation::swiglu ? (8 * n_embd / 3 + 31) / 32 * 32 : 4 * n_embd;
}

}  // namespace mote
