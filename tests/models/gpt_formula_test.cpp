// GPT with every option against the whole model by hand, bit for bit; gradients, the attention it shows.
#include "engine/kernels/kernels.h"
#include "tests/models/gpt_tools.h"
#include "tests/sentences.h"

namespace mote::test::gpt_formula_test {
namespace {

/// Logits and attention of both.
void check_formula(const GPTConfig& c, const IntArray& ids) {
  GPT m = lively_gpt(c, 0.5);
  std::vector<Array> weights;
  CHECK_MESSAGE(same_bits(gpt_by_hand(m, ids, &weights), m(ids).array()), fields_text(c));
  const std::vector<AttentionMap> maps = attention_maps(m, ids);
  REQUIRE(maps.size() == at(c.n_layer));
  for (std::size_t i = 0; i < maps.size(); ++i)
    CHECK_MESSAGE(same_bits(maps[i].weights, weights[i]), fields_text(c), maps[i].layer);
}

TEST_CASE("GPT: every option, alone and with those it meets in one formula, equals the model by hand") {
  const IntArray ids = random_tokens({2, 7}, 11, 3);
  using Change = void (*)(GPTConfig&);
  const std::vector<Change> changes{
      [](GPTConfig&) {},
      [](GPTConfig& c) { c.bias = false; },
      [](GPTConfig& c) { c.tie_weights = true; },
      [](GPTConfig& c) { c.rotary_base = 50; },
      [](GPTConfig& c) { c.block.norm = NormKind::rms_norm; },
      [](GPTConfig& c) { c.block.norm_order = NormOrder::post; },
      [](GPTConfig& c) { c.block.norm_order = NormOrder::post, c.block.norm = NormKind::rms_norm; },
      [](GPTConfig& c) { c.block.projections.n_kv_head = 1; },
      [](GPTConfig& c) { c.block.attention.window = 1; },
      [](GPTConfig& c) { c.block.attention.window = 3, c.block.projections.n_kv_head = 2; },
      [](GPTConfig& c) { c.block.feed_forward = false, c.block.norm_eps = 0.5, c.block.attention.scale = -0.2; },
      [](GPTConfig& c) { c.n_head = 6, c.block.projections.n_kv_head = 3; }};  // ALiBi's slopes are woven of two rows
  for (const Position position : all_positions) {
    for (const Change change : changes) {
      GPTConfig c = toy(position);
      change(c);
      check_formula(c, ids);
    }
    for (const Word<Activation>& activation : words(Activation())) {
      GPTConfig c = toy(position);
      c.block.activation = activation.value;
      c.bias = position == Position::learned;
      check_formula(c, ids);
    }
  }
}

TEST_CASE("GPT: attention_maps in every mode, of every layer in one pass, leaves nothing behind") {
  GPTConfig c = toy(Position::rotary);
  c.dropout = 0.5;
  GPT m = lively_gpt(c);
  const IntArray ids = random_tokens({2, 5}, 11, 3);
  const std::vector<AttentionMap> maps = attention_maps(m, ids);
  REQUIRE(maps.size() == 2);
  CHECK(maps[1].layer == "transformer.h.1.attn");
  m.train();
  const Leaks leaks;
  CHECK(same_bits(attention_maps(m, ids)[1].weights, maps[1].weights));  // in evaluation, whatever the model is in
  CHECK(same_bits(maps[1].weights, maps[1].dropped));
  CHECK(m.training());
  CHECK(leaks.nodes() == 0);
  REFUSES(attention_maps(m, random_tokens({1, 10}, 11, 3)));
  const AttentionWeights seen;
  m(ids);
  CHECK(seen.maps()[0].layer == "transformer.h.0.attn");
  CHECK(!same_bits(seen.maps()[0].weights, seen.maps()[0].dropped));  // in training
  m.eval();
  m(ids);
  CHECK(same_bits(seen.maps()[2].weights, maps[0].weights));  // in evaluation
  const IntArray longer = m.generate(ids, 1);                 // the cached pass shows its weights too, the same ones
  std::vector<AttentionMap> generating;
  {
    const AttentionWeights cached;
    m.generate(ids, 2);
    generating = cached.maps();
  }
  REQUIRE(generating.size() == 4);
  CHECK(same_bits(copy_of(attention_maps(m, longer)[1].weights.slice(2, 5, 6)), generating.back().weights));
}

}  // namespace
}  // namespace mote::test::gpt_formula_test
