// Functions of a shared library in which mote computes. Compiled twice: over float, and over double.
#include "engine/engine.h"
#include "engine/own.h"
#include "models/models.h"
#include "nn/own.h"
#include "tests/own.h"
#include "train/own.h"

#ifdef MOTE_REAL_DOUBLE
#define OF_THIS_REAL(name) double_##name
#else
#define OF_THIS_REAL(name) float_##name
#endif

[[gnu::visibility("default")]] void OF_THIS_REAL(wrong_shapes)();
void OF_THIS_REAL(wrong_shapes)() {
  mote::ones({2, 3 * own_engine}) + mote::ones({2, 4 * own_nn * own_train * own_tests});
}

/// What is left of 1/3 in this library's numbers, after a step through all that a model needs.
[[gnu::visibility("default")]] double OF_THIS_REAL(third)();
double OF_THIS_REAL(third)() {
  using namespace mote;
  GPTConfig config;
  config.block_size = 4;
  config.vocab_size = 5;
  config.n_layer = 1;
  config.n_head = 2;
  config.n_embd = 8;
  GPT model(config, Generator(1));
  model.loss(ints({{1, 2, 3}}), ints({{2, 3, 4}})).backward();
  const Tensor x = tensor(1.0 / 3).requires_grad_();
  const Tensor y = x * x;
  y.backward();
  return static_cast<double>(x.grad().item()) / 2;
}
