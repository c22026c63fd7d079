// generate() while weights change: between calls, between tokens, under PackedWeights of one's own; and what it asks
// for.
#include "engine/base/env.h"
#include "models/packed_weights.h"
#include "tests/models/gpt_tools.h"

namespace mote::test::generate_weights_test {
namespace {

/// Other weights for the head, by set() or in place.
void change_head(const GPT& m, Index step) {
  if (step % 3 == 0)
    m.lm_head.weight.set(random_array(m.lm_head.weight.shape(), static_cast<std::uint64_t>(step + 70)));
  if (step % 3 == 1) m.lm_head.weight.mutate()[step] += 3;
}

/// Other weights for what makes keys, in the same ways.
void change_keys(const GPT& m, Index step) {
  const Parameter& weight = m.transformer.h[0].attn.c_attn.weight;
  if (step % 3 == 0) weight.set(random_array(weight.shape(), static_cast<std::uint64_t>(step + 70)));
  if (step % 3 == 1) weight.mutate()[weight.numel() / 2] += 3;
}

TEST_CASE("generate: weights that change between two tokens are those of the next, with a cache and without") {
  const IntArray prompt = ints({{1, 2, 3}});
  for (const auto change : {change_head, change_keys})
    for (const bool cached : {true, false}) {
      GPT m = lively_gpt(toy()), same = lively_gpt(toy());
      const IntArray expected = greedy_by_hand(same, prompt, 6, [&](Index step) { change(same, step); });
      Index step = 0;
      GenerateOptions o{.temperature = 0, .use_cache = cached};
      o.on_token = [&](const IntArray&) {
        change(m, step++);
        return true;
      };
      CHECK(equal(m.generate(prompt, 6, o, Generator(1)), expected));
    }
}

TEST_CASE("generate: weights that change between two calls, also under PackedWeights around both") {
  const IntArray prompt = ints({{1, 2, 3}});
  GPT m = lively_gpt(toy());
  const PackedWeights packed(m);
  for (Index i = 0; i < 4; ++i) {
    CHECK(equal(m.generate(prompt, 6), greedy_by_hand(m, prompt, 6)));
    for (const Parameter& p : parameters(m))
      i % 2 ? p.set(random_array(p.shape(), static_cast<std::uint64_t>(i + 30))) : void(p.mutate()[0] += 1);
  }
}

TEST_CASE("generate: a token asks the system for no memory, and a call leaves none in use") {
  if (settings().system_alloc) return;
  GPTConfig c = toy(Position::rotary);
  c.block_size = 80;
  GPT m = lively_gpt(c);
  const IntArray prompt = random_tokens({3, 4}, 11, 2);
  const GenerateOptions o{.top_k = 5, .top_p = 0.9};
  const Generator random(1);
  for (int warm = 0; warm < 2; ++warm) m.generate(prompt, 100, o, random);
  const MemoryStats before = memory_stats();
  for (int again = 0; again < 5; ++again) m.generate(prompt, 100, o, random);
  CHECK(memory_stats().system_requests - before.system_requests < 25);  // for 500 tokens: now and then for a whole call
  CHECK(memory_stats().live_bytes == before.live_bytes);
}

}  // namespace
}  // namespace mote::test::generate_weights_test
