// Changes that are said to make a language model learn sooner. Each is made alone, in a GPT of Llama's kind.
#pragma once

#include <vector>

#include "models/gpt.h"

/// The one change to the training or the model. adamw, constant and ramp change the training. The changes from tied to
/// soft_cap are to the model. `all` changes nothing.
enum class Part {
  all,
  adamw,           ///< AdamW in place of Muon, for all weights
  constant,        ///< a constant learning rate
  ramp,            ///< the same number of tokens, first in small batches and then in large ones
  tied,            ///< the head shares the token embedding
  zero_head,       ///< the head starts from 0, so all tokens are equally likely
  qk_norm,         ///< an RMS norm of the queries and keys of each head (Henry et al. 2020)
  value_residual,  ///< the mean of a layer's values and of the first layer's values (Zhou et al. 2024)
  relu2,           ///< c_proj(relu(c_fc(x))^2), 4 C wide, in place of SwiGLU (So et al. 2021)
  soft_cap         ///< logits z become 15 tanh(z / 15), so that none grows too large (Gemma 2, 2024)
};
constexpr auto words(Part) {
  using W = mote::Word<Part>;
  return std::to_array<W>({{Part::all, "all"},
                           {Part::adamw, "adamw"},
                           {Part::constant, "constant"},
                           {Part::ramp, "ramp"},
                           {Part::tied, "tied"},
                           {Part::zero_head, "zero_head"},
                           {Part::qk_norm, "qk_norm"},
                           {Part::value_residual, "value_residual"},
                           {Part::relu2, "relu2"},
                           {Part::soft_cap, "soft_cap"}});
}

/// The forward pass of a GPT, layer by layer. Its results are bit for bit those of GPT's own forward pass, except for
/// the changed part.
struct TextModel : mote::Layer<TextModel> {
  const Part part;
  mote::GPT gpt;

  TextModel(Part which, const mote::GPTConfig& sizes, const mote::Generator& random)
      : part(which), gpt(changed(part, sizes), random) {
    if (part == Part::zero_head) mote::init::constant(gpt.lm_head.weight, 0);
  }
  mote::Tensor forward(const mote::IntArray& ids) const {
    using namespace mote;
    const Index H = gpt.config.n_head;
    Tensor x = gpt.transformer.embed(ids), first;
    for (const TransformerBlock& block : gpt.transformer.h) {
      const std::vector<Tensor> qkv = chunk(block.attn.c_attn(block.ln_1(x)), 3, -1);
      const auto turned = [&](const Tensor& q) { return (*block.attn.rotary)(normed(q, H), 0, H); };
      if (!first.defined()) first = qkv[2];
      const Tensor v = part == Part::value_residual ? (qkv[2] + first) * 0.5 : qkv[2];
      x = x + block.attn.c_proj(attention(turned(qkv[0]), turned(qkv[1]), v, {H, H}, {.causal = true}, Generator()));
      const Tensor y = (*block.ln_2)(x);
      x = x + (part == Part::relu2 ? block.mlp->c_proj(pow(relu(block.mlp->c_fc(y)), 2)) : (*block.mlp)(y));
    }
    const Tensor z = gpt.lm_head((*gpt.transformer.ln_f)(x));
    return part == Part::soft_cap ? tanh(z / 15) * 15 : z;
  }
  void visit(mote::Visitor& v) override { v("gpt", gpt); }

 private:
  static mote::GPTConfig changed(Part part, mote::GPTConfig c) {
    c.tie_weights = part == Part::tied;
    if (part == Part::relu2) c.block.activation = mote::Activation::relu;
    return c;
  }
  mote::Tensor normed(const mote::Tensor& q, mote::Index heads) const {
    if (part != Part::qk_norm) return q;
    return mote::reshape(mote::rms_norm(mote::reshape(q, {q.size(0), q.size(1), heads, -1})), q.shape());
  }
};
