// GPT::generate with and without its cache: the same tokens, within block_size and beyond it.
#include "tests/models/gpt_tools.h"

namespace mote::test::generate_cache_test {
namespace {

TEST_CASE("generate: the same tokens with and without a cache, within block_size and beyond") {
  for (const Position position : all_positions)
    for (const Index window : {0, 3}) {
      GPTConfig c = toy(position);
      c.block.attention.window = window;
      if (window) {
        c.block.projections.n_kv_head = 1;
        c.block.norm_order = NormOrder::post;
      }
      GPT m = lively_gpt(c);
      for (const Index T : {1, 5, 9, 14}) {  // shorter than block_size 9, equal, longer
        const IntArray prompt = random_tokens({3, T}, 11, static_cast<std::uint64_t>(T));
        const Index count = T == 1 ? 44 : 12;  // once five times block_size
        const IntArray expected = greedy_by_hand(m, prompt, count);
        for (const bool cached : {true, false}) {
          const GenerateOptions greedy{.temperature = 0, .use_cache = cached};
          CHECK_MESSAGE(equal(m.generate(prompt, count, greedy, Generator(1)), expected), fields_text(c), ", T = ", T);
        }
        const GenerateOptions with{.temperature = 1.3, .top_k = 7, .top_p = 0.95};
        GenerateOptions without = with;
        without.use_cache = false;
        CHECK_MESSAGE(
            equal(m.generate(prompt, count, with, Generator(5)), m.generate(prompt, count, without, Generator(5))),
            fields_text(c), ", T = ", T);
      }
    }
}

TEST_CASE("generate with a cache: the same text under every instruction set and with any number of threads") {
  for (const Position position : {Position::rotary, Position::alibi, Position::learned}) {
    GPTConfig c = toy(position);
    c.block.attention.window = 5;
    c.block.projections.n_kv_head = 2;
    GPT m = lively_gpt(c);
    const IntArray prompt = random_tokens({4, 3}, 11, 2);
    const GenerateOptions options{.temperature = 1.2, .top_p = 0.9};
    const IntArray text = m.generate(prompt, 20, options, Generator(6));
    on_all_hardware({1, 4}, [&] { CHECK(equal(m.generate(prompt, 20, options, Generator(6)), text)); });
    CHECK_FALSE(equal(m.generate(prompt, 20, options, Generator(7)), text));
  }
}

}  // namespace
}  // namespace mote::test::generate_cache_test
