// AttentionLM: check_module, the model by hand, its loss, what it refuses. Its draws: repeat_vectors_test.
#include "models/tutorials/attention_lm.h"

#include "nn/fields.h"

#include "tests/nn/by_hand.h"
#include "tests/sentences.h"

namespace mote::test::attention_lm_test {
namespace {

const AttentionLMConfig tiny{.vocab_size = 5, .n_embd = 4, .n_head = 2, .block_size = 3};

TEST_CASE("AttentionLM") {
  const IntArray ids = ints({{1, 4, 0}, {2, 2, 3}});
  check_module(
      "AttentionLM", [](Generator& random) { return AttentionLM(tiny, random); },
      [&](const AttentionLM& m, In) { return m(ids); },
      {.names = {"token.weight", "attn.c_attn.weight", "attn.c_attn.bias", "attn.c_proj.weight", "attn.c_proj.bias",
                 "head.weight", "head.bias"},
       .error =
           [](const AttentionLM& m) {
             m(ints({{1, 5}}));
           },
       .error_text = "embedding: id 5 is out of range for V = 5 (in token)"});
}

TEST_CASE("AttentionLM is embedding, waves, attention and a head: equal to these by hand, bit for bit") {
  AttentionLM m(tiny, Generator(3));
  scramble(m);
  const IntArray ids = ints({{1, 4, 0}, {2, 2, 3}});
  const Parts w = parts_of(m);
  const Tensor x = embedding(w.at("token.weight"), ids) + SinusoidalPositions(3, 4)(3);
  Array weights;
  const Tensor y = linear_by_hand(w, "head", attention_by_hand(w, "attn.", x, 2, {}, {}, &weights));
  CHECK(same_bits(m(ids).array(), y.array()));
  CHECK(same_bits(attention_maps(m, ids).at(0).weights, weights));
}

TEST_CASE("AttentionLM: dropout is on the weights and on the output") {
  const AttentionLM m({.dropout = 0.25}, Generator(3));
  CHECK((m.attn.attn_dropout.p == 0.25 && m.attn.resid_dropout.p == 0.25));
}

TEST_CASE("AttentionLM: its loss is the mean over the targets that count; what it refuses") {
  Generator random(3);
  const AttentionLM m(tiny, random);
  scramble(m);
  const IntArray ids = ints({{1, 4, 0}});
  const Tensor logits = m(ids);
  const Array log_p = log_softmax(logits, -1).array();
  const double expected = -(static_cast<double>(log_p.at({0, 0, 3})) + static_cast<double>(log_p.at({0, 2, 2}))) / 2;
  CHECK(std::abs(static_cast<double>(m.loss(ids, ints({{3, -1, 2}})).item()) - expected) < (f64 ? 1e-14 : 1e-6));
  REFUSES(m(ints({1, 2})));
  REFUSES(m(ints({{1, 2, 3, 4}})));
  REFUSES(AttentionLM({.n_embd = 6, .n_head = 4}, random));
  REFUSES(AttentionLM({.vocab_size = 0}, random));
  REFUSES(AttentionLM({.block_size = 0}, random));
  CHECK(fields_text(AttentionLMConfig()) == "vocab_size = 64\nn_embd = 32\nn_head = 4\nblock_size = 12\ndropout = 0\n");
}

}  // namespace
}  // namespace mote::test::attention_lm_test
