// What is here: one fixed run (the repeat demo with dropout, a small GPT, a layer as a user would write it) and a
// checksum
//   of all its weights. Every build, instruction set and number of threads must print the same one.
// What is not: tests of what was learned; the checksum only says whether a bit changed anywhere.
// Read next: engine/kernels/kernels.h on why it does not change.
#include <cinttypes>
#include <cstdio>
#include <cstring>

#include "models/models.h"
#include "train/adamw.h"
#include "train/fit.h"
#include "train/tasks/repeat.h"

using namespace mote;

namespace {

#ifdef MOTE_REAL_DOUBLE
constexpr std::uint64_t expected = 0x0a9adfb0ac0e9a9b;
#else
constexpr std::uint64_t expected = 0xeb57aec806d1121c;
#endif

/// FNV-1a over the bytes of every parameter in visit order.
void hash_weights(const Module& module, std::uint64_t& hash) {
  for (const Parameter& p : parameters(module)) {
    const Array a = p.value().contiguous();
    unsigned char bytes[sizeof(real)];
    for (Index i = 0; i < a.numel(); ++i) {
      std::memcpy(bytes, a.data() + i, sizeof(real));
      for (const unsigned char b : bytes) hash = (hash ^ b) * 1099511628211u;
    }
  }
}

void repeat_demo(std::uint64_t& hash) {
  const Generator random(42), data(42);
  AttentionLMConfig config;
  config.dropout = 0.1;
  AttentionLM model(config, random);
  Adam optimizer(all_parameters(model), {.lr = 5e-3});
  const RepeatTask task(config.vocab_size, config.block_size);
  fit(optimizer,
      [&](Index) {
        const Batch batch = task.batch(16, data);
        return model.loss(batch.ids, batch.targets);
      },
      {.steps = 20});
  hash_weights(model, hash);
}

void small_gpt(std::uint64_t& hash) {
  const Generator random(7), data(8);
  GPTConfig config;
  config.block_size = 33, config.vocab_size = 29, config.n_layer = 2, config.n_head = 3, config.n_embd = 48;
  config.dropout = 0.1;
  GPT model(config, random);
  AdamW optimizer(decay_groups(model, 0.1), {.lr = 1e-3});
  const RepeatTask task(config.vocab_size, config.block_size);
  fit(optimizer,
      [&](Index) {
        const Batch batch = task.batch(9, data);
        return model.loss(batch.ids, batch.targets);
      },
      {.steps = 5});
  hash_weights(model, hash);
}

/// Three projections of one input, as a user would write it: the order of the statements is the order of the graph.
struct Mixer : Layer<Mixer> {
  Linear a, b, c;
  Mixer(Index width, const Generator& random) : a(width, width, random), b(width, width, random), c(width, 5, random) {}
  Tensor forward(const Tensor& x) const {
    const Tensor left = tanh(a(x));
    const Tensor right = gelu(b(x), GeluForm::tanh);
    return c(left * right + x);
  }
  void visit(Visitor& v) override { v("a", a), v("b", b), v("c", c); }
};

void user_layer(std::uint64_t& hash) {
  Generator random(3);
  Mixer mixer(37, random);
  Adam optimizer(all_parameters(mixer), {.lr = 1e-2});
  const Tensor x = randn({11, 37}, random);
  const Tokens targets = randint(0, 5, {11}, random);
  fit(optimizer,
      [&](Index) {
        const Tensor logits = mixer(x);
        const Tensor loss = cross_entropy(logits, targets, {.label_smoothing = real(0.1)});
        const Tensor spread = sqrt(mean(exp(sin(logits))));
        return loss + spread * real(0.01);
      },
      {.steps = 10});
  hash_weights(mixer, hash);
}

}  // namespace

int main() {
  std::uint64_t hash = 14695981039346656037u;
  repeat_demo(hash);
  small_gpt(hash);
  user_layer(hash);
  std::printf("fingerprint %016" PRIx64 " (%s, %d threads)\n", hash, kernels::table().name, threads());
  if (hash == expected) return 0;
  std::printf("expected    %016" PRIx64 "\n", expected);
  return 1;
}
