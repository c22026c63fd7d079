// GPT with every option against the whole model by hand, bit for bit; gradients, ties, clones, the attention it shows.
#include "engine/kernels/kernels.h"
#include "tests/models/gpt_tools.h"

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

TEST_CASE("GPT: every position, norm, order, number of key heads and window equals the model by hand") {
  const IntArray ids = random_tokens({2, 7}, 11, 3);
  for (const Position position : all_positions)
    for (const double fraction : {1.0, 0.5, 0.7}) {  // of six columns all, two or four; only with four does base count
      if (fraction < 1 && position != Position::rotary) continue;
      for (const NormKind norm : {NormKind::layer_norm, NormKind::rms_norm})
        for (const NormOrder order : {NormOrder::pre, NormOrder::post})
          for (const Index kv : {1, 2, 4})
            for (const Index window : {0, 1, 3}) {
              GPTConfig c = toy(position);
              c.rotary = {.base = fraction < 1 ? 50.0 : 10000.0, .fraction = fraction};
              c.block.norm = norm, c.block.norm_order = order;
              c.block.projections.n_kv_head = kv, c.block.attention.window = window;
              check_formula(c, ids);
            }
    }
}

TEST_CASE("GPT: every activation, attention alone, six heads, biases and ties equal the model by hand") {
  const IntArray ids = random_tokens({2, 7}, 11, 4);
  for (const Position position : all_positions)
    for (const NormOrder order : {NormOrder::pre, NormOrder::post}) {
      GPTConfig c = toy(position);
      c.block.norm_order = order;
      for (const Word<Activation>& activation : words(Activation())) {
        c.block.activation = activation.value;
        check_formula(c, ids);
        c.bias = !c.bias;  // three of them with, three without, and the other way round after the next
      }
      c.tie_weights = true;
      check_formula(c, ids);
      c.block.feed_forward = false, c.block.norm_eps = 0.5, c.block.attention.scale = -0.2;
      check_formula(c, ids);
      c.n_head = 6, c.block.projections.n_kv_head = 3;  // ALiBi's slopes are woven of two rows
      check_formula(c, ids);
    }
}

TEST_CASE("GPT: gradients of every position, norm order and tie along a random direction" * doctest::skip(!f64)) {
  const IntArray ids = random_tokens({2, 9}, 11, 3), targets = random_tokens({2, 9}, 11, 4);
  for (const Position position : all_positions)
    for (const NormOrder order : {NormOrder::pre, NormOrder::post})
      for (const Index window : {0, 4}) {
        GPTConfig c = toy(position);
        c.tie_weights = window == 0, c.block.norm_order = order, c.block.attention.window = window;
        c.block.projections.n_kv_head = 2, c.block.activation = Activation::swiglu;
        const GPT m = lively_gpt(c, 0.4);
        std::vector<std::pair<std::string, Parameter>> all;
        for (const NamedParameter& p : named_parameters(m)) all.emplace_back(p.name, p.parameter);
        const GradcheckResult result = gradcheck([&] { return m.loss(ids, targets); }, all,
                                                 {.mode = GradcheckOptions::Mode::directional, .tolerance = 1e-6});
        CHECK_MESSAGE(result.ok, fields_text(c), result.text);
        CHECK(result.without_gradient.empty());
      }
}

TEST_CASE("GPT: a training step's loss and gradients are the same bits on any hardware") {
  GPTConfig c = toy();
  c.dropout = 0.1;
  const Generator random(1);
  const GPT m(c, random);
  const IntArray ids = random_tokens({4, 9}, 11, 3), targets = random_tokens({4, 9}, 11, 4);
  const GeneratorState start = random.get_state();
  const auto step = [&] {
    random.set_state(start);
    zero_grad(m);
    const Tensor loss = m.loss(ids, targets);
    loss.backward();
    std::vector<Array> all{loss.array()};
    for (const Parameter& p : parameters(m)) all.push_back(p.grad());
    return all;
  };
  const std::vector<Array> plain = step();
  for (const kernels::Table* table : kernels::available_tables())
    for (const int n : {1, 2, 8}) {
      const Hardware use(*table, n);
      const std::vector<Array> now = step();
      CHECK(std::equal(now.begin(), now.end(), plain.begin(), plain.end(), same_bits));
    }
}

TEST_CASE("GPT: tied weights are one cell, and its gradient comes from both uses") {
  GPTConfig c = toy();
  const GPT apart = lively_gpt(c);
  CHECK(!apart.lm_head.weight.same_as(apart.transformer.wte.weight));
  c.tie_weights = true;
  const GPT tied = lively_gpt(c);
  CHECK(tied.lm_head.weight.same_as(tied.transformer.wte.weight));
  const std::vector<NamedParameter> from = named_parameters(tied, true), to = named_parameters(apart);
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i].parameter.set(from[i].parameter.value());
  const IntArray ids = random_tokens({2, 9}, 11, 3), targets = random_tokens({2, 9}, 11, 4);
  const Tensor loss = tied.loss(ids, targets);
  const Tensor other = apart.loss(ids, targets);
  CHECK(same_bits(loss.array(), other.array()));
  loss.backward();
  other.backward();
  const Value both(apart.transformer.wte.weight.grad() + apart.lm_head.weight.grad());
  CHECK(distance(tied.transformer.wte.weight.grad().to_vector(), both.x) < (f64 ? 1e-13 : 1e-5));
  CHECK(same_bits(tied.transformer.wpe->weight.grad(), apart.transformer.wpe->weight.grad()));
}

TEST_CASE("GPT: a clone has equal weights and its own tie; copy_weights makes two models one") {
  GPTConfig c = toy();
  c.tie_weights = true;
  const GPT m = lively_gpt(c);
  const GPT copy = m.clone();
  const std::vector<NamedParameter> a = named_parameters(m), b = named_parameters(copy);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(same_bits(a[i].parameter.value(), b[i].parameter.value()));
    CHECK(!a[i].parameter.same_as(b[i].parameter));
  }
  CHECK(copy.lm_head.weight.same_as(copy.transformer.wte.weight));
  GPT other(c, Generator(77));
  const IntArray ids = random_tokens({2, 9}, 11, 3);
  CHECK(!same_bits(other(ids).array(), m(ids).array()));
  copy_weights(m, other);
  CHECK(same_bits(other(ids).array(), m(ids).array()));
  GPTConfig untied = c;
  untied.tie_weights = false;
  const GPT apart = lively_gpt(untied);
  CHECK(
      error_of([&] { copy_weights(apart, other); }) ==
      "copy_weights: the modules do not match:\n  transformer.wte.weight and lm_head.weight are one parameter here and "
      "two different ones there");
  CHECK(same_bits(other(ids).array(), m(ids).array()));
  c.n_layer = 3;
  GPT third(c, Generator(77));
  const Array before = third(ids).array();
  CHECK(error_of([&] { copy_weights(m, third); }).find("transformer.h.2.ln_1.weight is missing in the source") !=
        std::string::npos);
  CHECK(same_bits(third(ids).array(), before));
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
  CHECK(error_of([&] {
          attention_maps(m, random_tokens({1, 10}, 11, 3));
        }) == "GPT: T = 10 is above block_size 9 (in GPT)");
  const AttentionWeights seen;
  m(ids);
  CHECK(same_bits(seen.at("transformer.h.0.attn").weights, seen.maps()[0].weights));
  CHECK(!same_bits(seen.maps()[0].weights, seen.maps()[0].dropped));  // in training
  m.eval();
  CHECK(error_of([&] { seen.at("h.0"); }) ==
        "AttentionWeights: no attention ran in 'h.0'; it ran in: transformer.h.0.attn, transformer.h.1.attn");
  const IntArray longer = m.generate(ids, 1);  // the cached pass shows its weights too, the same ones
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
