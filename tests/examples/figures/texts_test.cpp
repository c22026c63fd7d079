// The model of examples/figures/texts.h: a GPT's own forward pass but for the parts that change one.
#include "examples/figures/texts.h"

#include <doctest/doctest.h>

namespace mote::test::texts_test {

TEST_CASE("texts: to the last bit a GPT's forward pass, which some parts change") {
  GPTConfig c = GPTConfig::llama().resized(2, 2, 8);
  c.vocab_size = 7;
  c.block_size = 6;
  const IntArray ids = randint(0, 7, {3, 6}, Generator(2));
  for (const auto& [part, name] : words(Part())) {
    const std::string word(name);  // CAPTURE takes no structured binding before clang 16
    const TextModel model(part, c, Generator(1));
    const bool changes = part >= Part::qk_norm;
    CAPTURE(word);
    CHECK((model(ids).array().to_vector() == model.gpt(ids).array().to_vector()) != changes);
  }
}

}  // namespace mote::test::texts_test
