// What holds for a GPT with any kind of positions: causality, prefixes, batches, sizes.
#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"

namespace mote::test::gpt_positions_test {
namespace {

TEST_CASE("GPT: no bit of the logits depends on a later token, nor on whether there is one, for any positions") {
  for (const GPTConfig& c : all_kinds()) {
    const GPT m = lively_gpt(c);
    const IntArray ids = random_tokens({1, 9}, 10, 3);
    const Array y = m(ids).array();
    for (Index t = 0; t < 9; ++t) {
      IntArray one = ids, rest = ids;
      one.mutate()[t] = (ids.data()[t] + 1) % 10;
      for (Index i = t; i < 9; ++i) rest.mutate()[i] = 9 - ids.data()[i];
      const Array z = m(one).array();
      CHECK_MESSAGE(same_bits(z.slice(1, 0, t), y.slice(1, 0, t)), fields_text(c));
      CHECK_MESSAGE(!same_bits(z.select(1, t), y.select(1, t)), fields_text(c));
      CHECK_MESSAGE(same_bits(m(rest).array().slice(1, 0, t), y.slice(1, 0, t)), fields_text(c));
      if (t > 0) CHECK_MESSAGE(same_bits(m(ids.slice(1, 0, t)).array(), y.slice(1, 0, t)), fields_text(c));
    }
  }
}

TEST_CASE("GPT: a row of a batch has the bits it has alone, wherever it stands") {
  const IntArray ids = random_tokens({8, 9}, 11, 3);
  const Index order[8] = {5, 2, 7, 0, 1, 6, 4, 3};
  IntArray permuted({8, 9});
  for (Index b = 0; b < 8; ++b) std::copy_n(ids.data() + order[b] * 9, 9, permuted.mutate() + b * 9);
  for (const GPTConfig& c : all_kinds()) {
    const GPT m = lively_gpt(c);
    const Array y = m(ids).array(), z = m(permuted).array();
    for (Index b = 0; b < 8; ++b) {
      CHECK_MESSAGE(same_bits(m(ids.slice(0, b, b + 1)).array(), y.slice(0, b, b + 1)), fields_text(c));
      CHECK_MESSAGE(same_bits(z.select(0, b), y.select(0, order[b])), fields_text(c));
    }
  }
}

TEST_CASE("GPT: longer than block_size names both numbers, unless a window makes it unbounded") {
  for (const GPTConfig& c : all_kinds()) {
    GPT m = lively_gpt(c);
    const IntArray ids = random_tokens({1, 10}, 11, 3);
    const bool endless =
        c.block.attention.window > 0 && c.position != Position::learned && c.position != Position::sinusoidal;
    CHECK(c.unbounded() == endless);
    if (endless) {
      CHECK(m(ids).shape() == Shape{1, 10, 11});
      const Array y = m(ids).array();  // and the table of angles ends nowhere: a prefix has the same bits
      for (Index t = 1; t < 10; ++t) CHECK(same_bits(m(ids.slice(1, 0, t)).array(), y.slice(1, 0, t)));
    } else {
      REFUSES(m(ids));
      CHECK(equal(m.generate(ids, 2).slice(1, 10, 12), m.generate(ids.slice(1, 1, 10), 2).slice(1, 9, 11)));
    }
  }
}

TEST_CASE("GPT: an empty batch, an empty text and a single token, for any positions") {
  for (const GPTConfig& c : all_kinds()) {
    const GPT m = lively_gpt(c);
    CHECK(m(IntArray({0, 4})).shape() == Shape{0, 4, 11});
    CHECK(m(IntArray({2, 0})).shape() == Shape{2, 0, 11});
    CHECK(m(random_tokens({2, 1}, 11, 3)).shape() == Shape{2, 1, 11});
    REFUSES(m(IntArray({4})));
  }
}

}  // namespace
}  // namespace mote::test::gpt_positions_test
