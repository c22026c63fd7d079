// A whole GPT once more, in double and as plain loops, for every option of its config; toy models.
#pragma once

#include "models/gpt.h"
#include "tests/nn/block_oracles.h"

namespace mote::test {

inline const std::vector<std::string> position_names{"learned", "sinusoidal", "rotary", "alibi", "none"};

/// Four heads of six columns, so that half of a head's columns are three, of which two can be turned.
inline GPTConfig toy(const std::string& position = "learned") {
  GPTConfig c{.block_size = 9, .vocab_size = 11, .n_layer = 2, .n_head = 4, .n_embd = 24, .tie_weights = false};
  c.position = position_from(position);
  return c;
}

/// Weights so large that every bit depends on everything it may depend on, and that no two tokens look alike.
inline GPT lively_gpt(const GPTConfig& config, double size = 0.7) {
  Generator random(1);
  GPT m(config, random);
  std::uint64_t seed = 21;
  for (const Parameter& p : parameters(m)) p.set(random_array(p.shape(), seed++, -size, size));
  m.eval();
  return m;
}

/// Logits that are `logits`, whatever has been read: nothing but the last norm's bias reaches lm_head.
inline GPT constant_model(const std::vector<double>& logits) {
  const Index V = static_cast<Index>(logits.size());
  GPTConfig c{.block_size = 6, .vocab_size = V, .n_layer = 1, .n_head = 2, .n_embd = 8, .tie_weights = false};
  Generator random(1);
  GPT m(c, random);
  m.transformer.ln_f->weight.set(Array::zeros({8}));
  m.transformer.ln_f->bias.set(array({8}, {1, 0, 0, 0, 0, 0, 0, 0}));
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

/// A short name of a config, for messages.
inline std::string text_of(const GPTConfig& c) {
  std::ostringstream text;
  text << position_names[static_cast<std::size_t>(c.position)] << ", activation " << static_cast<int>(c.activation)
       << (c.norm == NormKind::rms_norm ? ", rms" : "") << (c.norm_order == NormOrder::post ? ", post" : ", pre")
       << ", kv heads " << c.n_kv_head << ", window " << c.window << (c.feed_forward ? "" : ", attention only");
  return text.str();
}

inline TransformerBlockOptions block_options_of(const GPTConfig& c) {
  TransformerBlockOptions o;
  o.activation = c.activation, o.order = c.norm_order, o.norm = c.norm, o.norm_eps = c.norm_eps;
  o.feed_forward = c.feed_forward, o.n_kv_head = c.n_kv_head, o.window = c.window;
  o.alibi = c.position == Position::alibi;
  if (c.position == Position::rotary) o.rotary = c.rotary;
  return o;
}

/// Logits: ids [B, T] -> [B, T, V]. `weights` receives a row for each layer: its attention [B, H, T, T].
inline Row gpt_oracle(const Weights& w, const IntArray& ids, const GPTConfig& c, std::vector<Row>* weights = nullptr) {
  const Index T = ids.shape()[1], C = c.n_embd;
  Row x;
  for (Index i = 0; i < ids.numel(); ++i)
    for (Index j = 0; j < C; ++j) {
      const double angle =
          static_cast<double>(i % T) / std::pow(10000.0, static_cast<double>(j - j % 2) / static_cast<double>(C));
      double place = 0, scale = 1;
      if (c.position == Position::learned) place = w.at("transformer.wpe.weight").x[at(i % T * C + j)];
      if (c.position == Position::sinusoidal) {  // as in section 3.4 and 3.5 of Vaswani et al. 2017
        place = j % 2 == 0 ? std::sin(angle) : std::cos(angle);
        scale = std::sqrt(static_cast<double>(C));
      }
      x.push_back(w.at("transformer.wte.weight").x[at(ids.data()[i] * C + j)] * scale + place);
    }
  for (Index layer = 0; layer < c.n_layer; ++layer) {
    std::string prefix = "transformer.h.";
    prefix.append(std::to_string(layer)).append(".");
    Row attended;
    x = any_block_oracle(w, prefix, x, {ids.shape()[0], T, C}, c.n_head, block_options_of(c), &attended);
    if (weights) weights->push_back(attended);
  }
  if (c.norm_order == NormOrder::pre) x = norm_oracle(c.norm, w, "transformer.ln_f.", x, c.norm_eps);
  return linear_oracle(w, "lm_head.", x);
}

}  // namespace mote::test
