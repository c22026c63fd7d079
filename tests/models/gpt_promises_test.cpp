// What GPT promises: ties, equal bits in training, gradients of the whole model, clones.
#include "models/gpt.h"
#include "tests/check_module.h"

namespace mote::test::gpt_promises_test {
namespace {

const GPTConfig small{.block_size = 9, .vocab_size = 11, .n_layer = 2, .n_head = 3, .n_embd = 24};

IntArray draw_tokens(const Shape& shape, std::uint64_t seed) {
  IntArray ids(shape);
  Generator(seed).randint({ids.mutate(), static_cast<std::size_t>(ids.numel())}, 0, small.vocab_size);
  return ids;
}

/// Weights large enough for every bit to depend on everything it may depend on.
GPT lively(const GPTConfig& config = small) {
  Generator random(1);
  GPT m(config, random);
  scramble(m);
  return m;
}

TEST_CASE("GPT: a training step's loss and gradients are the same bits on any hardware") {
  GPTConfig c = small;
  c.dropout = 0.1;
  Generator random(1);
  const GPT m(c, random);
  const IntArray ids = draw_tokens({4, 9}, 3), targets = draw_tokens({4, 9}, 4);
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

TEST_CASE("GPT: the gradient of the whole model along a random direction" * doctest::skip(!f64)) {
  const IntArray ids = draw_tokens({3, 9}, 3), targets = draw_tokens({3, 9}, 4);
  for (const bool as_drawn : {true, false})
    for (const bool tie : {true, false}) {
      Generator random(1);
      GPTConfig c = small;
      c.tie_weights = tie;
      const GPT m(c, random);
      if (!as_drawn)
        for (const Parameter& p : parameters(m)) p.set(p.value() + random_array(p.shape(), 5, -0.3, 0.3));
      std::vector<std::pair<std::string, Parameter>> all;
      for (const NamedParameter& p : named_parameters(m)) all.emplace_back(p.name, p.parameter);
      const GradcheckResult result = gradcheck([&] { return m.loss(ids, targets); }, all,
                                               {.mode = GradcheckOptions::Mode::directional, .tolerance = 1e-6});
      CHECK_MESSAGE(result.ok, result.text);
      CHECK(result.without_gradient.empty());
    }
}

TEST_CASE("GPT: tied weights are one cell, and its gradient comes from both uses") {
  GPTConfig c = small;
  const GPT tied = lively(c);
  CHECK(tied.lm_head.weight.same_as(tied.transformer.wte.weight));
  c.tie_weights = false;
  const GPT apart = lively(c);
  CHECK(!apart.lm_head.weight.same_as(apart.transformer.wte.weight));
  const std::vector<NamedParameter> from = named_parameters(tied, true), to = named_parameters(apart);
  REQUIRE(from.size() == to.size());
  for (std::size_t i = 0; i < to.size(); ++i) to[i].parameter.set(from[i].parameter.value());
  const IntArray ids = draw_tokens({2, 9}, 3), targets = draw_tokens({2, 9}, 4);
  const Tensor loss = tied.loss(ids, targets);
  const Tensor other = apart.loss(ids, targets);
  CHECK(same_bits(loss.array(), other.array()));
  loss.backward();
  other.backward();
  const Value both(apart.transformer.wte.weight.grad() + apart.lm_head.weight.grad());
  CHECK(distance(tied.transformer.wte.weight.grad().to_vector(), both.x) < (f64 ? 1e-14 : 1e-6));
  CHECK(same_bits(tied.transformer.wpe->weight.grad(), apart.transformer.wpe->weight.grad()));
}

TEST_CASE("GPT: a clone has equal weights and its own tie; copy_weights makes two models one") {
  const GPT m = lively();
  const GPT copy = m.clone();
  const std::vector<NamedParameter> a = named_parameters(m), b = named_parameters(copy);
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(same_bits(a[i].parameter.value(), b[i].parameter.value()));
    CHECK(!a[i].parameter.same_as(b[i].parameter));
  }
  CHECK(copy.lm_head.weight.same_as(copy.transformer.wte.weight));
  Generator random(77);
  GPT other(small, random);
  const IntArray ids = draw_tokens({2, 9}, 3);
  CHECK(!same_bits(other(ids).array(), m(ids).array()));
  copy_weights(m, other);
  CHECK(same_bits(other(ids).array(), m(ids).array()));
  GPTConfig deeper = small;
  deeper.n_layer = 3;
  GPT third(deeper, random);
  const Array before = third(ids).array();
  CHECK(error_of([&] { copy_weights(m, third); }).find("transformer.h.2.ln_1.weight is missing in the source") !=
        std::string::npos);
  CHECK(same_bits(third(ids).array(), before));
}

}  // namespace
}  // namespace mote::test::gpt_promises_test
