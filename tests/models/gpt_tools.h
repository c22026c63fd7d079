// Toy GPTs for tests, and a whole GPT once more from ops alone.
#pragma once

#include <array>

#include "models/gpt.h"
#include "tests/nn/by_hand.h"
#include "tests/nn/oracles.h"

namespace mote::test {

inline constexpr std::array all_positions{Position::learned, Position::sinusoidal, Position::rotary, Position::alibi,
                                          Position::none};

/// Four heads of six columns, so that half of a head's columns are three, of which two can be turned.
inline GPTConfig toy(Position position = Position::learned) {
  return {.block_size = 9,
          .vocab_size = 11,
          .n_layer = 2,
          .n_head = 4,
          .n_embd = 24,
          .tie_weights = false,
          .position = position};
}

/// Each kind of positions, in both norm orders, with and without a window, those without one tied.
inline std::vector<GPTConfig> all_kinds() {
  std::vector<GPTConfig> all;
  for (const Position position : all_positions)
    for (const NormOrder order : {NormOrder::pre, NormOrder::post})
      for (const Index window : {0, 3}) {
        GPTConfig c = toy(position);
        c.tie_weights = window == 0;
        c.block.norm_order = order;
        c.block.attention.window = window;
        c.block.projections.n_kv_head = window ? 2 : 0;
        c.block.norm = window ? NormKind::rms_norm : NormKind::layer_norm;
        c.block.activation = order == NormOrder::pre ? Activation::gelu : Activation::swiglu;
        all.push_back(c);
      }
  return all;
}

/// Weights so large that every bit depends on everything it may depend on, and that no two tokens look alike.
inline GPT lively_gpt(const GPTConfig& config, double size = 0.7) {
  GPT m(config, Generator(1));
  std::uint64_t seed = 21;
  for (const Parameter& p : parameters(m)) p.set(random_array(p.shape(), seed++, -size, size));
  m.eval();
  return m;
}

/// Logits that are `logits`, whatever has been read: nothing but the last norm's bias reaches lm_head.
inline GPT constant_model(const std::vector<double>& logits) {
  const Index V = static_cast<Index>(logits.size());
  GPT m({.block_size = 6, .vocab_size = V, .n_layer = 1, .n_head = 2, .n_embd = 8, .tie_weights = false}, Generator(1));
  std::get<LayerNorm>(m.transformer.ln_f->layer).weight.set(Array::zeros({8}));
  std::get<LayerNorm>(m.transformer.ln_f->layer).bias.set(array({8}, {1, 0, 0, 0, 0, 0, 0, 0}));
  Array head = Array::zeros({V, 8});
  for (std::size_t v = 0; v < logits.size(); ++v) head.mutate()[v * 8] = static_cast<real>(logits[v]);
  m.lm_head.weight.set(head);
  return m;
}

inline IntArray random_tokens(const Shape& shape, Index V, std::uint64_t seed) {
  IntArray ids(shape);
  Generator(seed).randint({ids.mutate(), static_cast<std::size_t>(ids.numel())}, 0, V);
  return ids;
}

/// What generate() promises for temperature 0, from whole passes of each row alone: over the last block_size tokens, or
/// over all if the config is unbounded. change(step) runs after each token.
inline IntArray greedy_by_hand(const GPT& m, const IntArray& prompt, Index count,
                               const std::function<void(Index)>& change = nullptr) {
  const NoGrad no_grad;
  const Index B = prompt.shape()[0], T = prompt.shape()[1], all = T + count;
  IntArray text({B, all});
  for (Index b = 0; b < B; ++b) std::copy_n(prompt.data() + b * T, T, text.mutate() + b * all);
  for (Index t = T; t < all; ++t) {
    const Index from = m.config.unbounded() ? 0 : std::max<Index>(0, t - m.config.block_size);
    for (Index b = 0; b < B; ++b) {
      const Array logits = m(text.slice(0, b, b + 1).slice(1, from, t)).array();
      text.mutate()[b * all + t] = argmax(logits.select(1, -1)).item();
    }
    if (change) change(t - T);
  }
  return text;
}

/// Logits: ids [B, T] -> [B, T, V]. `weights` receives each layer's attention [B, H, T, T].
inline Array gpt_by_hand(const GPT& m, const IntArray& ids, std::vector<Array>* weights = nullptr) {
  const GPTConfig& c = m.config;
  const Parts w = parts_of(m);
  const Index T = ids.shape()[1];
  Tensor x = embedding(w.at("transformer.wte.weight"), ids);
  if (c.position == Position::learned) x = x + slice(w.at("transformer.wpe.weight"), 0, 0, T);
  if (c.position == Position::sinusoidal)  // as in sections 3.4 and 3.5 of Vaswani et al. 2017
    x = x * std::sqrt(static_cast<real>(c.n_embd)) + SinusoidalPositions(T, c.n_embd)(T);
  TransformerBlockOptions o = c.block;
  if (c.position == Position::rotary) o.projections.rotary = RotaryOptions{.base = c.rotary_base};
  if (c.position == Position::alibi) o.attention.alibi = alibi_slopes(c.n_head);
  for (Index layer = 0; layer < c.n_layer; ++layer) {
    Array shown;
    x = block_by_hand(w, "transformer.h." + std::to_string(layer) + ".", x, c.n_head, o, &shown);
    if (weights) weights->push_back(shown);
  }
  if (m.transformer.ln_f) x = norm_by_hand(w, "transformer.ln_f", x, o);
  return linear_by_hand(w, "lm_head", x).array();
}

}  // namespace mote::test
