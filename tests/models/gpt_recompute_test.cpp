// GPT with every block in a checkpoint(), by a user's own loop: the same bits, fewer bytes.
#include "engine/base/storage.h"
#include "engine/engine.h"
#include "models/gpt.h"
#include "nn/reach.h"
#include "tests/tools.h"

namespace mote::test::gpt_recompute_test {

/// GPT's pass with its blocks called one by one.
Tensor blocks(const GPT& model, const IntArray& ids, bool again) {
  Tensor x = model.transformer.embed(ids);
  for (const TransformerBlock& block : model.transformer.h) x = again ? checkpoint(block, x) : block(x);
  return model.lm_head((*model.transformer.ln_f)(x));
}

TEST_CASE("checkpoint: GPT, every block, with dropout: all bits, a smaller peak") {
  std::vector<Array> first;
  Index peak = 0;
  for (const bool again : {false, true}) {
    const GPT model({.block_size = 16, .vocab_size = 6, .n_layer = 6, .n_head = 2, .n_embd = 16, .dropout = 0.2},
                    Generator(1));
    const IntArray ids = randint(0, 6, {4, 16}, Generator(2));
    std::vector<Array> all;
    Index most = 0;
    for (int step = 0; step < 2; ++step) {
      reset_peak_memory();
      const Tensor y = blocks(model, ids, again);
      sum(y * y).backward();
      most = memory_stats().peak_bytes - memory_stats().live_bytes;
      all.push_back(y.array());
    }
    for (const Parameter& p : parameters(model)) all.push_back(p.grad());
    if (again) {
      CHECK(std::equal(all.begin(), all.end(), first.begin(), first.end(), same_bits));
      CHECK(2 * most < peak);
    }
    first = all, peak = most;
  }
}

TEST_CASE("checkpoint: a change inside is made again, and is missed if its scope has ended") {
  const GPT model({.block_size = 8, .vocab_size = 6, .n_layer = 2, .n_head = 2, .n_embd = 8}, Generator(1));
  const IntArray ids = ints({{1, 4, 2, 0}});
  const auto gradients = [&](bool again) {
    const Ablate scope(model, "*.h.1.attn heads 0");
    zero_grad(model);
    sum(blocks(model, ids, again)).backward();
    std::vector<Array> all;
    for (const Parameter& p : parameters(model)) all.push_back(p.grad());
    return all;
  };
  const std::vector<Array> plain = gradients(false), again = gradients(true);
  CHECK(std::equal(plain.begin(), plain.end(), again.begin(), again.end(), same_bits));
  const Tensor loss = [&] {
    const Ablate scope(model, "*.h.1.attn heads 0");
    return sum(blocks(model, ids, true));
  }();
  CHECK(error_of([&] { loss.backward(); }).starts_with("checkpoint: f, called again in backward, gave another result"));
}

}  // namespace mote::test::gpt_recompute_test
