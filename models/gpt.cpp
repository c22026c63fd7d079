// GPT's construction and forward pass.
#include "models/gpt.h"

#include <cmath>

namespace mote {
namespace {

const GPTConfig& checked(const GPTConfig& c) {
  check_in("GPT", c.block_size >= 1, "block_size ", c.block_size, " must be at least 1");
  check_in("GPT", c.vocab_size >= 1, "vocab_size ", c.vocab_size, " must be at least 1");
  check_in("GPT", c.n_layer >= 1, "n_layer ", c.n_layer, " must be at least 1");
  check_in("GPT", c.n_head >= 1, "n_head ", c.n_head, " must be at least 1");
  check_in("GPT", c.n_embd >= 1, "n_embd ", c.n_embd, " must be at least 1");
  check_in("GPT", c.n_embd % c.n_head == 0, "n_embd ", c.n_embd, " is not divisible by n_head ", c.n_head);
  constexpr double most = 1e11;  // 400 GB of floats; more is a mistake, and building the model would take all memory
  check_in("GPT", c.parameters() <= most, "n_layer ", c.n_layer, ", n_embd ", c.n_embd, ", vocab_size ", c.vocab_size,
           " and block_size ", c.block_size, " make ", c.parameters(), " parameters: at most ", most, " are possible");
  return c;
}

}  // namespace

GPT::Transformer::Transformer(const GPTConfig& c, const Init& init)
    : wte(c.vocab_size, c.n_embd, init), drop(c.dropout, init.random()) {
  if (c.position == Position::learned) wpe.emplace(c.block_size, c.n_embd, init);
  if (c.position == Position::sinusoidal) waves.emplace(c.block_size, c.n_embd);
  const TransformerBlockOptions block = c.block_options();
  for (Index i = 0; i < c.n_layer; ++i) h.emplace_back(c.n_embd, c.n_head, init, block);
  if (block.norm_order == NormOrder::pre) ln_f.emplace(block.norm, c.n_embd, block.norm_eps, c.bias);
}

Tensor GPT::Transformer::embed(const IntArray& ids, Integer start) const {
  const Tensor token = wte(ids);  // [B, T, C]
  const Index T = ids.shape()[1];
  if (wpe) return drop(token + (*wpe)(T, start));  // [T, C], the same for every row of the batch
  if (!waves) return drop(token);
  // The waves have amplitude 1, and token vectors are drawn from N(0, 0.02). Without the factor sqrt(C), token vectors
  // would hardly matter in the sum.
  const Tensor scaled = token * std::sqrt(static_cast<real>(token.size(2)));
  return drop(scaled + (*waves)(T, start));
}

Tensor GPT::Transformer::forward(const IntArray& ids, const Mask& mask, GPTCache* cache) const {
  const Index before = cache ? cache->length() : 0;
  if (cache) {
    check_in("GPT", cache->token_table.same_as(wte.weight) && cache->layers.size() == h.size(),
             "the cache belongs to another model; take it from this one's cache()");
    for (const KeyValueCache& layer : cache->layers)
      check_in("GPT", layer.length() == before, "the cache is damaged: its first layer has ", before,
               " tokens, but another has ", layer.length());
  }
  try {
    Tensor x = embed(ids, before);
    for (std::size_t i = 0; i < h.size(); ++i) x = h[i](x, mask, cache ? &cache->layers[i] : nullptr);
    return ln_f ? (*ln_f)(x) : x;
  } catch (...) {
    if (cache)  // removes the new tokens from the layers of the cache that already have them
      for (KeyValueCache& layer : cache->layers)
        if (layer.length() > before) layer.truncate(before);
    throw;
  }
}

void GPT::Transformer::visit(Visitor& v) {
  v("wte", wte);
  v("wpe", wpe);
  v("waves", waves);
  v("drop", drop);
  v("h", h);
  if (ln_f) v("ln_f", ln_f->layer);
}

// The layers are built without drawing weights. Then every matrix is drawn by its name, with nanoGPT's distributions.
// With Init::twice() the layers draw as well, and each matrix is drawn as often as in nanoGPT, so that the random
// numbers agree. nanoGPT draws a tied matrix under both of its names, and draws a matrix that feeds the residual sum
// once more.
GPT::GPT(const GPTConfig& c, const Init& init)
    : config(checked(c)), transformer(c, init.of_layers()), lm_head(c.n_embd, c.vocab_size, init.of_layers(), false) {
  if (c.tie_weights) lm_head.weight = transformer.wte.weight;
  if (!init.draws()) return;
  const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(c.n_layer));
  if (init.draws_twice())
    for (const auto& [name, parameter] : named_parameters(*this, true))
      if (parameter.shape().rank() >= 2) init::normal(parameter, 0, 0.02, init.random());
  for (const auto& [name, parameter] : named_parameters(*this)) {
    const bool feeds_sum = name.ends_with("c_proj.weight"), again = feeds_sum || !init.draws_twice();
    if (parameter.shape().rank() >= 2 && again) init::normal(parameter, 0, feeds_sum ? residual : 0.02, init.random());
    if (name.ends_with(".bias")) init::constant(parameter, 0);  // the weights of norms stay 1
    check_in("GPT", !Init::left_undrawn(parameter.value()), "no rule draws '", name, "', of shape ", parameter.shape(),
             ": GPT's constructor in models/gpt.cpp draws matrices and sets biases. Add a line there, such as if "
             "(name.ends_with(\".scale\")) init::constant(parameter, 1); or begin with a constant, which needs none: "
             "Parameter(Array::full({n}, 1))");
  }
}

Tensor GPT::forward(const IntArray& ids, const Mask& mask, GPTCache* cache) const {
  check_in("GPT", ids.rank() == 2, "ids ", ids.shape(), " must be [B, T]");
  const Index T = (cache ? cache->length() : 0) + ids.shape()[1];
  check_in("GPT", T <= config.block_size || config.unbounded(), "the length T = ", T, " is above block_size ",
           config.block_size, cache ? ", with the tokens in the cache" : "");
  check_in("GPT", !cache || config.dropout == 0 || !training(), "a cache is for evaluation: call eval() first");
  return lm_head(transformer(ids, mask, cache));
}

GPTCache GPT::cache() const {
  GPTCache c{{}, transformer.wte.weight};
  for (const TransformerBlock& block : transformer.h) c.layers.push_back(block.cache());
  return c;
}

Tensor GPT::loss(const IntArray& ids, const IntArray& targets, const Mask& mask, Real label_smoothing) const {
  const Tensor logits = (*this)(ids, mask);
  return cross_entropy(logits, targets, {.ignore_index = -1, .label_smoothing = label_smoothing});
}

Tensor GPT::log_probabilities(const IntArray& ids) const {
  check_in("log_probabilities", ids.rank() == 2 && ids.shape()[1] >= 1, "ids ", ids.shape(),
           " must be [B, T] with T at least 1");
  const Index T = ids.shape()[1];
  const Tensor logits = (*this)(ids.slice(1, 0, T - 1));
  return -cross_entropy(logits, ids.slice(1, 1, T), {.reduction = Reduction::none});
}

}  // namespace mote
