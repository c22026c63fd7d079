// What is here: GPT's construction, forward pass and generation.
// What is not: its blocks (nn/transformer_block.h).
// Read next: ../train/fit.h.
#include "models/gpt.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace mote {
namespace {

const GPTConfig& checked(const GPTConfig& c) {
  check_in("GPT", c.block_size >= 1, "block_size ", c.block_size, " must be at least 1");
  check_in("GPT", c.vocab_size >= 1, "vocab_size ", c.vocab_size, " must be at least 1");
  check_in("GPT", c.n_layer >= 1, "n_layer ", c.n_layer, " must be at least 1");
  check_in("GPT", c.n_head >= 1, "n_head ", c.n_head, " must be at least 1");
  check_in("GPT", c.n_embd >= 1, "n_embd ", c.n_embd, " must be at least 1");
  check_in("GPT", c.n_embd % c.n_head == 0, "n_embd ", c.n_embd, " is not divisible by n_head ", c.n_head);
  return c;
}

TransformerBlockOptions block_options(const GPTConfig& c) {
  TransformerBlockOptions o;
  o.causal = true;
  o.dropout = c.dropout;
  o.bias = c.bias;
  o.attention_bias = c.attention_bias < 0 ? c.bias : c.attention_bias > 0;
  o.mlp_bias = c.mlp_bias < 0 ? c.bias : c.mlp_bias > 0;
  o.activation = c.activation;
  o.block_size = c.block_size;
  return o;
}

}  // namespace

GPT::Transformer::Transformer(const GPTConfig& c, const Init& init)
    : wte(c.vocab_size, c.n_embd, init),
      wpe(c.block_size, c.n_embd, init),
      drop(c.dropout, init.random()),
      ln_f(c.n_embd, 1e-5, c.bias) {
  for (Index i = 0; i < c.n_layer; ++i) h.emplace_back(c.n_embd, c.n_head, init, block_options(c));
}

Tensor GPT::Transformer::embed(const Tokens& ids) const {
  const Tensor token = wte(ids);                // [B, T, C]
  const Tensor position = wpe(ids.shape()[1]);  // [T, C], the same for every row of the batch
  return drop(token + position);
}

Tensor GPT::Transformer::forward(const Tokens& ids) const {
  Tensor x = embed(ids);
  for (const TransformerBlock& block : h) x = block(x);
  return ln_f(x);
}

void GPT::Transformer::visit(Visitor& v) {
  v("wte", wte);
  v("wpe", wpe);
  v("drop", drop);
  v("h", h);
  v("ln_f", ln_f);
}

GPT::GPT(const GPTConfig& c, const Generator& random)
    : config(checked(c)),
      transformer(c, Init::none(random)),
      lm_head(c.n_embd, c.vocab_size, Init::none(random), false) {
  if (c.tie_weights) lm_head.weight = transformer.wte.weight;
  const double residual = 0.02 / std::sqrt(2.0 * static_cast<double>(c.n_layer));
  for (const NamedParameter& p : named_parameters(*this)) {
    if (p.parameter.shape().rank() < 2) continue;  // biases stay 0, norms 1
    init::normal(p.parameter, 0, p.name.ends_with("c_proj.weight") ? residual : 0.02, random);
  }
}

void GPT::check_ids(const Tokens& ids) const {
  check_in("GPT", ids.rank() == 2, "ids ", ids.shape(), " must be [B, T]");
  check_in("GPT", ids.shape()[1] <= config.block_size, "T = ", ids.shape()[1], " is above block_size ",
           config.block_size);
}

Tensor GPT::forward(const Tokens& ids) const {
  check_ids(ids);
  return lm_head(transformer(ids));
}

Tensor GPT::loss(const Tokens& ids, const Tokens& targets) const {
  const Tensor logits = (*this)(ids);
  return cross_entropy(logits, targets, {.ignore_index = -1});
}

Array GPT::attention_weights(const Tokens& ids, Index layer) {
  check_in("attention_weights", layer >= 0 && layer < config.n_layer, "layer ", layer, " is not one of ",
           config.n_layer);
  check_ids(ids);
  const NoGrad no_grad;
  const Evaluation evaluation(*this);
  const detail::OpenLayer here(*this);
  const std::size_t last = static_cast<std::size_t>(layer);
  Tensor x = transformer.embed(ids);
  for (std::size_t i = 0; i < last; ++i) x = transformer.h[i](x);
  return transformer.h[last].attn.with_weights(transformer.h[last].ln_1(x)).weights;
}

namespace {

/// One token for each row of logits [B, V] -> [B].
Tokens choose(const Tensor& logits, const GenerateOptions& options, const Generator& random) {
  if (options.temperature == 0) return argmax(logits);
  const Tensor largest = max(logits, {1}, true);
  Tensor scaled = (logits - largest) / options.temperature;  // the largest is 0 now: a low temperature cannot overflow
  if (options.top_k > 0 && options.top_k < logits.size(1)) {
    const Tensor least = slice(topk(scaled, options.top_k).values, 1, -1, options.top_k);  // [B, 1]: the k-th largest
    scaled = masked_fill(scaled, scaled < least, -std::numeric_limits<double>::infinity());
  }
  return multinomial(softmax(scaled), 1, random).reshape({logits.size(0)});
}

}  // namespace

Tokens GPT::generate(const Tokens& ids, Index count, const GenerateOptions& options, const Generator& random) {
  check_in("generate", ids.rank() == 2 && ids.shape()[1] >= 1, "ids ", ids.shape(),
           " must be [B, T] with T at least 1");
  check_in("generate", options.temperature >= 0 && std::isfinite(options.temperature), "temperature ",
           options.temperature, " must be 0 or above");
  check_in("generate", options.top_k >= 0, "top_k ", options.top_k, " must be 0 or above");
  check_in("generate", count >= 0, "count ", count, " must be 0 or above");
  const NoGrad no_grad;
  const Evaluation evaluation(*this);
  const Index B = ids.shape()[0];
  const auto not_a_number = [](real x) { return std::isnan(x); };
  Tokens all = ids;
  for (Index step = 0; step < count; ++step) {
    const Index T = all.shape()[1];
    const Tensor logits = (*this)(all.slice(1, std::max<Index>(0, T - config.block_size), T));
    const Array last = logits.array().select(1, -1).contiguous();  // [B, V]
    check_in("generate", std::none_of(last.data(), last.data() + last.numel(), not_a_number), "the logits after position ",
             T - 1, " are not numbers");
    const Tokens next = choose(last, options, random);
    Tokens longer({B, T + 1});
    Index* const out = longer.mutate();
    for (Index b = 0; b < B; ++b) {
      std::copy_n(all.data() + b * T, T, out + b * (T + 1));
      out[b * (T + 1) + T] = next.data()[b];
    }
    all = longer;
  }
  return all;
}

}  // namespace mote
