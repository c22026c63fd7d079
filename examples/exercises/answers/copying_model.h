// A GPT with weights that are written by hand, for exercises that look inside a model. It repeats its input with the
// period n, so it predicts that each symbol equals the symbol n positions before.
#pragma once

#include "examples/exercises/answers/check.h"

namespace of_check {

constexpr Index V = 8, n = 5, T = 2 * n;
/// The vector of a token has four parts, and each constant is the first column of one part. `found` is the part for
/// the symbol that a head has found, `said` for the symbol that the model predicts, `symbol` for the token's own
/// symbol, and `place` for its position. The first three parts have a column for each of V symbols. The last part has
/// a column for each of T positions.
constexpr Index found = 0, said = V, symbol = 2 * V, place = 3 * V;

/// Writes the weights of head i, counted over all layers. The head attends to the position `back` positions earlier,
/// and a larger `sharp` gives this position a larger attention weight. The head reads a symbol s from the part of the
/// vector that begins at column `from`. It writes to the part that begins at column `to`. There it adds `loud` to the
/// column of symbol (s + shift) % V.
inline void write(const GPT& model, Index i, Index back, double sharp, Index from, Index to, Index shift, double loud) {
  const Index C = model.config.n_embd, H = model.config.n_head, own = i % H * (C / H);
  const SelfAttention& attn = model.transformer.h[i / H].attn;
  real *in = attn.c_attn.weight.mutate(), *out = attn.c_proj.weight.mutate();
  for (Index t = 0; t < T; ++t) {
    if (t >= back) in[(own + t - back) * C + place + t] = sharp;
    in[(C + own + t) * C + place + t] = 1;
    if (t >= V) continue;
    in[(2 * C + own + t) * C + from + t] = 1;
    out[(to + (t + shift) % V) * C + own + t] = loud;
  }
}

/// The numbers of four special heads of the model that was made last, counted over all layers. heads[0] copies: it
/// finds the symbol that comes next. heads[1] attends to this symbol even more, but adds nothing to the vector.
/// heads[2] finds the symbol s + 1 after each symbol s, which is sometimes right. heads[3] passes the symbols that
/// heads[0] and heads[2] have found to the output.
inline std::vector<Index> heads;

inline GPT copying_model(Index L, Index H, const Generator& random) {
  GPTConfig config = GPTConfig::attention_only().resized(L, H, H * ((place + T + H - 1) / H));
  config.vocab_size = V;
  config.block_size = T;
  config.block.norm = NormKind::rms_norm;
  const GPT model(config, random);
  const Index C = config.n_embd;
  for (Index t = 0; t < T; ++t) {
    model.transformer.wpe->weight.mutate()[t * C + place + t] = 1;
    if (t < V) model.transformer.wte.weight.mutate()[t * C + symbol + t] = 1;
    if (t < V) model.lm_head.weight.mutate()[t * C + said + t] = 1;
  }
  const auto early = random.randperm((L - 1) * H), late = random.randperm(H);
  heads = {early[0], (L - 1) * H + late[0], early[1], (L - 1) * H + late[1]};
  write(model, heads[0], n - 1, 1.5, symbol, found, 0, 0.25);
  write(model, heads[1], n - 1, 5, symbol, said, 0, 0);
  write(model, heads[2], n, 1.5, symbol, found, 1, 0.1);
  write(model, heads[3], 0, 2, found, said, 0, 0.25);
  return model;
}

/// Rows of symbols [B, T] whose second half repeats the first half. In the first half, symbol s + 1 often follows
/// symbol s.
inline IntArray repeated_rows(Index B, const Generator& random) {
  IntArray ids = randint(0, V, {B, T}, random);
  Index* id = ids.mutate();
  for (Index i = 1; i < ids.numel(); ++i)
    if (i % T >= n || (i % T > 0 && i % 3 > 0)) id[i] = i % T >= n ? id[i - n] : (id[i - 1] + 1) % V;
  return ids;
}

}  // namespace of_check
