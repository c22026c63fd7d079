// The sizes of the models, counts of their operations, and one training step.
#include "examples/bench/models.h"

#include <algorithm>

#include "engine/ops/sample.h"

namespace bench {

using mote::Index;

namespace {

mote::GPTConfig config(Index layers, Index heads, Index width, Index context, Index tokens) {
  mote::GPTConfig c;
  c.n_layer = layers;
  c.n_head = heads;
  c.n_embd = width;
  c.block_size = context;
  c.vocab_size = tokens;
  c.tie_weights = false;
  c.block.activation = mote::Activation::gelu_tanh;
  return c;
}

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> all{{"micro", config(1, 4, 16, 8, 27), 8}, {"S0", config(1, 4, 32, 12, 64), 32},
                        {"S1", config(2, 4, 64, 32, 32), 32},  {"S2", config(4, 4, 128, 64, 65), 12},
                        {"S3", config(6, 6, 384, 256, 65), 8}, {"S4", config(12, 12, 768, 64, 50257), 4}};
  all[0].config.bias = false;
  all[0].config.block.norm = mote::NormKind::rms_norm;
  all[0].config.block.activation = mote::Activation::relu;
  all[1].config.block.feed_forward = false;
  return all;
}

Case case_named(const std::string& name) { return mote::by_name("model", cases(), name, "all, "); }

Index weights_of(const mote::GPT& model) {
  Index elements = model.config.tie_weights ? model.lm_head.weight.numel() : 0;
  for (const mote::NamedParameter& p : mote::named_parameters(model))
    if (p.parameter.shape().rank() == 2 && p.name != "transformer.wte.weight" && p.name != "transformer.wpe.weight")
      elements += p.parameter.numel();
  return elements;
}

double step_flops(const mote::GPT& model, Index batch) {
  const mote::GPTConfig& c = model.config;
  const Index window = c.block.attention.window > 0 ? c.block.attention.window : c.block_size;
  double pairs = 0;  // number of pairs of a query and a key that it attends to
  for (Index t = 0; t < c.block_size; ++t) pairs += static_cast<double>(std::min(t + 1, window));
  const double linear = 2 * static_cast<double>(c.block_size) * static_cast<double>(weights_of(model));
  const double attention = 4 * pairs * static_cast<double>(c.n_layer * c.n_embd);
  return 3 * static_cast<double>(batch) * (linear + attention);
}

Training::Training(const Case& c)
    : model(c.config, mote::Generator(1)), optimizer_(mote::all_parameters(model), {.lr = 1e-3}) {
  const mote::Generator random(2);
  ids_ = mote::randint(0, c.config.vocab_size, {c.batch, c.config.block_size}, random);
  targets_ = mote::randint(0, c.config.vocab_size, {c.batch, c.config.block_size}, random);
}

void Training::step() {
  model.loss(ids_, targets_).backward();
  optimizer_.step();
  optimizer_.zero_grad();
}

}  // namespace bench
