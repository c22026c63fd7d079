// The presets of GPTConfig, and the options of its blocks.
#include "models/gpt_config.h"

namespace mote {

GPTConfig GPTConfig::gpt2() {
  GPTConfig c;
  c.vocab_size = 50257;
  c.block.activation = Activation::gelu_tanh;
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
  c.position = Position::rotary;
  c.block.norm = NormKind::rms_norm;
  c.block.activation = Activation::swiglu;
  c.block.projections.n_kv_head = 4;
  return c;
}

GPTConfig GPTConfig::attention_only() {
  GPTConfig c;
  c.n_layer = 2;
  c.tie_weights = false;
  c.block.feed_forward = false;
  return c;
}

const std::array<GPTConfig::Preset, 4>& GPTConfig::presets() {
  static constexpr std::array<Preset, 4> all{
      {{"gpt2", gpt2}, {"nanogpt", nanogpt}, {"llama", llama}, {"attention_only", attention_only}}};
  return all;
}

GPTConfig GPTConfig::preset(const std::string& name) { return by_name("preset", presets(), name).make(); }

GPTConfig GPTConfig::resized(Integer layers, Integer heads, Integer width) const {
  GPTConfig c = *this;
  c.n_layer = layers;
  c.n_head = heads;
  c.n_embd = width;
  Index& n_kv_head = c.block.projections.n_kv_head;
  if (n_kv_head > 0 && heads % n_kv_head != 0) n_kv_head = 0;
  return c;
}

double GPTConfig::parameters() const {
  const auto real_of = [](Index n) { return static_cast<double>(n); };
  const double C = real_of(n_embd), gates = block.activation == Activation::swiglu;
  const bool projection_bias = block.projections.bias.value_or(bias);
  const double biases = bias, in_biases = projection_bias;
  const double out_biases = block.projections.out_bias.value_or(projection_bias);
  const double inner = block.n_inner ? real_of(block.n_inner) : gates > 0 ? 8 * C / 3 : 4 * C;
  const Index n_kv_head = block.projections.n_kv_head;
  const double kv = n_kv_head ? C * real_of(n_kv_head) / real_of(n_head) : C;
  const double norm = block.norm == NormKind::layer_norm ? (1 + biases) * C : C;
  const double attention = 2 * C * (C + kv) + in_biases * (C + 2 * kv) + out_biases * C;
  const double network = (2 + gates) * C * inner + biases * ((1 + gates) * inner + C);
  const double layer = norm + attention + (block.feed_forward ? norm + network : 0);
  const double rows =
      real_of(vocab_size) * (tie_weights ? 1 : 2) + (position == Position::learned ? real_of(block_size) : 0);
  return C * rows + real_of(n_layer) * layer + (block.norm_order == NormOrder::pre ? norm : 0);
}

GPTConfig gpt_config(const FieldValues& values, Integer vocab_size, Integer block_size) {
  GPTConfig c;
  bool heads_chosen = false;
  for (const auto& [name, text] : values) {
    if (name == "preset") c = text == "default" ? GPTConfig() : GPTConfig::preset(text);
    heads_chosen = heads_chosen || name == "n_kv_head";
  }
  for (const auto& [name, text] : values)
    check(name == "preset" || set_field(c, name, text), "a GPT has no option ", name);
  if (!heads_chosen) c = c.resized(c.n_layer, c.n_head, c.n_embd);
  c.vocab_size = vocab_size;
  c.block_size = block_size;
  return c;
}

TransformerBlockOptions GPTConfig::block_options() const {
  TransformerBlockOptions o = block;
  check_in("GPT", o.attention.causal.value_or(true), "attention must be causal: no token may see what it predicts");
  check_in("GPT", !o.projections.rotary && !o.attention.alibi.defined(),
           "config.block sets rotary or alibi itself: choose them by config.position");
  check_in("GPT", !o.dropout && !o.bias && o.projections.block_size == 0,
           "config.block sets dropout, bias or block_size itself: set them in the config");
  o.dropout = dropout;
  o.bias = bias;
  if (!unbounded()) o.projections.block_size = block_size;
  if (position == Position::alibi) o.attention.alibi = alibi_slopes(n_head);
  // At most 4096 rows of angles are precomputed, because a file may ask for any block_size. Later ones come on demand.
  if (position == Position::rotary)
    o.projections.rotary = RotaryOptions{.base = rotary_base, .length = block_size < 4096 ? block_size : 4096};
  return o;
}

}  // namespace mote
