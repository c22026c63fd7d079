// GPT::generate with and without its cache: the same tokens, within block_size and beyond it.
#include "tests/models/gpt_tools.h"

namespace mote::test::generate_cache_test {
namespace {

/// What generate() promises, from whole passes alone: the last block_size tokens, or all if the config is unbounded.
IntArray greedy_oracle(const GPT& m, const IntArray& prompt, Index count) {
  const NoGrad no_grad;
  std::vector<std::vector<Index>> rows;
  const Index B = prompt.shape()[0], T = prompt.shape()[1];
  for (Index b = 0; b < B; ++b) {
    std::vector<Index> row(prompt.data() + b * T, prompt.data() + (b + 1) * T);
    for (Index i = 0; i < count; ++i) {
      const std::size_t length = row.size();
      const std::size_t context = m.config.unbounded() ? length : std::min(length, at(m.config.block_size));
      IntArray ids({1, static_cast<Index>(context)});
      std::copy(row.end() - static_cast<std::ptrdiff_t>(context), row.end(), ids.mutate());
      const std::vector<real> logits = m(ids).array().select(1, -1).to_vector();
      row.push_back(std::max_element(logits.begin(), logits.end()) - logits.begin());
    }
    rows.push_back(row);
  }
  IntArray all({B, T + count});
  for (Index b = 0; b < B; ++b) std::copy(rows[at(b)].begin(), rows[at(b)].end(), all.mutate() + b * (T + count));
  return all;
}

TEST_CASE("generate: the same tokens with and without a cache, within block_size and beyond") {
  for (const Position position : all_positions)
    for (const Index window : {0, 3}) {
      GPTConfig c = toy(position);
      c.block.attention.window = window;
      if (window) c.block.projections.n_kv_head = 1, c.block.norm_order = NormOrder::post;
      GPT m = lively_gpt(c);
      for (const Index T : {1, 5, 9, 14}) {  // shorter than block_size 9, equal, longer
        const IntArray prompt = random_tokens({3, T}, 11, static_cast<std::uint64_t>(T));
        const Index count = T == 1 ? 44 : 12;  // once five times block_size
        const IntArray expected = greedy_oracle(m, prompt, count);
        for (const bool cached : {true, false}) {
          const GenerateOptions greedy{.temperature = 0, .use_cache = cached};
          CHECK_MESSAGE(m.generate(prompt, count, greedy, Generator(1)) == expected, fields_text(c), ", T = ", T);
        }
        const GenerateOptions with{.temperature = 1.3, .top_k = 7, .top_p = 0.95};
        GenerateOptions without = with;
        without.use_cache = false;
        CHECK_MESSAGE(m.generate(prompt, count, with, Generator(5)) == m.generate(prompt, count, without, Generator(5)),
                      fields_text(c), ", T = ", T);
      }
    }
}

TEST_CASE("generate with a cache: the same text under every instruction set and with any number of threads") {
  for (const Position position : {Position::rotary, Position::alibi, Position::learned}) {
    GPTConfig c = toy(position);
    c.block.attention.window = 5, c.block.projections.n_kv_head = 2;
    GPT m = lively_gpt(c);
    const IntArray prompt = random_tokens({4, 3}, 11, 2);
    const GenerateOptions options{.temperature = 1.2, .top_p = 0.9};
    const IntArray text = m.generate(prompt, 20, options, Generator(6));
    on_all_hardware({1, 4}, [&] { CHECK(m.generate(prompt, 20, options, Generator(6)) == text); });
    CHECK(!(m.generate(prompt, 20, options, Generator(7)) == text));
  }
}

}  // namespace
}  // namespace mote::test::generate_cache_test
