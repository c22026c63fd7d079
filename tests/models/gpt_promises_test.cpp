// What is here: what GPT promises: causality, rows of a batch, ties, equal bits, gradients of the whole model, clones.
// What is not: its construction (gpt_test.cpp), generation (generate_test.cpp).
// Read next: generate_test.cpp.
#include "models/gpt.h"
#include "tests/check_module.h"

namespace mote::test {
namespace {

const GPTConfig small{.block_size = 9, .vocab_size = 11, .n_layer = 2, .n_head = 3, .n_embd = 24};

Tokens draw_tokens(const Shape& shape, std::uint64_t seed) {
  Tokens ids(shape);
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

TEST_CASE("GPT: changing token t changes no bit of the logits before t, for any hardware") {
  const GPT m = lively();
  const Tokens ids = draw_tokens({1, 9}, 3);
  const Array y = m(ids).array();
  for (const kernels::Table* table : kernels::available_tables())
    for (const int n : {1, 8}) {
      const Hardware use(*table, n);
      CHECK(same_bits(m(ids).array(), y));
      for (Index t = 0; t < 9; ++t) {
        Tokens other = ids;
        other.mutate()[t] = (ids.data()[t] + 1) % small.vocab_size;
        const Array z = m(other).array();
        CHECK(same_bits(z.slice(1, 0, t), y.slice(1, 0, t)));
        CHECK(!same_bits(z.select(1, t), y.select(1, t)));
        for (Index i = t; i < 9; ++i) other.mutate()[i] = 10 - ids.data()[i];  // and all later ones
        CHECK(same_bits(m(other).array().slice(1, 0, t), y.slice(1, 0, t)));
      }
    }
}

TEST_CASE("GPT: a prefix on its own has the logits it has inside a longer text") {
  const GPT m = lively();
  const Tokens ids = draw_tokens({2, 9}, 3);
  const Array y = m(ids).array();
  for (Index t = 1; t <= 9; ++t) CHECK(same_bits(m(ids.slice(1, 0, t)).array(), y.slice(1, 0, t)));
}

TEST_CASE("GPT: the gradient of logits[i] with respect to a later embedding is exactly 0") {
  const GPT m = lively();
  const Tokens ids = draw_tokens({1, 7}, 3);
  for (Index i = 0; i < 7; ++i) {
    Tensor x = m.transformer.embed(ids).detach().requires_grad_();
    Tensor y = x;
    for (const TransformerBlock& block : m.transformer.h) y = block(y);
    const Tensor logits = m.lm_head((*m.transformer.ln_f)(y));
    slice(logits, 1, i, i + 1).backward(random_array({1, 1, 11}, 2));
    for (Index j = 0; j < 7; ++j) {
      const Array g = x.grad().select(1, j);
      if (j > i)
        CHECK(same_bits(abs(Tensor(g)).array(), Array::zeros({1, 24})));
      else
        CHECK(!same_bits(abs(Tensor(g)).array(), Array::zeros({1, 24})));
    }
  }
}

TEST_CASE("GPT: a row of a batch has the bits it has alone, wherever it stands") {
  const GPT m = lively();
  const Tokens ids = draw_tokens({8, 9}, 3);
  const Array y = m(ids).array();
  const Index order[8] = {5, 2, 7, 0, 1, 6, 4, 3};
  Tokens permuted({8, 9});
  for (Index b = 0; b < 8; ++b) std::copy_n(ids.data() + order[b] * 9, 9, permuted.mutate() + b * 9);
  const Array z = m(permuted).array();
  for (Index b = 0; b < 8; ++b) {
    CHECK(same_bits(m(ids.slice(0, b, b + 1)).array(), y.slice(0, b, b + 1)));
    CHECK(same_bits(z.select(0, b), y.select(0, order[b])));
  }
}

TEST_CASE("GPT: a training step's loss and gradients are the same bits on any hardware") {
  GPTConfig c = small;
  c.dropout = 0.1;
  Generator random(1);
  const GPT m(c, random);
  const Tokens ids = draw_tokens({4, 9}, 3), targets = draw_tokens({4, 9}, 4);
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
  const Tokens ids = draw_tokens({3, 9}, 3), targets = draw_tokens({3, 9}, 4);
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
  const Tokens ids = draw_tokens({2, 9}, 3), targets = draw_tokens({2, 9}, 4);
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
  const GPT other(small, random);
  const Tokens ids = draw_tokens({2, 9}, 3);
  CHECK(!same_bits(other(ids).array(), m(ids).array()));
  copy_weights(m, other);
  CHECK(same_bits(other(ids).array(), m(ids).array()));
  GPTConfig deeper = small;
  deeper.n_layer = 3;
  const GPT third(deeper, random);
  const Array before = third(ids).array();
  CHECK(error_of([&] { copy_weights(m, third); }).find("transformer.h.2.ln_1.weight is missing in the source") !=
        std::string::npos);
  CHECK(same_bits(third(ids).array(), before));
}

TEST_CASE("GPT: attention_weights shows each layer's heads and leaves nothing behind") {
  GPT m = lively();
  const Tokens ids = draw_tokens({2, 5}, 3);
  const Leaks leaks;
  for (Index layer = 0; layer < 2; ++layer) {
    const Array w = m.attention_weights(ids, layer);
    REQUIRE(w.shape() == Shape{2, 3, 5, 5});
    for (Index i = 0; i < 5; ++i) {
      double total = 0;
      for (Index j = 0; j < 5; ++j) total += static_cast<double>(w.at({1, 2, i, j}));
      CHECK(std::abs(total - 1) < 1e-6);
      for (Index j = i + 1; j < 5; ++j) CHECK(w.at({1, 2, i, j}) == 0);
    }
  }
  CHECK(leaks.nodes() == 0);
  CHECK(error_of([&] { m.attention_weights(ids, 2); }) == "attention_weights: layer 2 is not one of 2");
}

TEST_CASE("GPT: an empty batch and an empty text have empty logits") {
  const GPT m = lively();
  CHECK(m(Tokens({0, 4})).shape() == Shape{0, 4, 11});
  CHECK(m(Tokens({2, 0})).shape() == Shape{2, 0, 11});
  CHECK(error_of([&] { m(Tokens({4})); }) == "GPT: ids [4] must be [B, T] (in GPT)");
}

}  // namespace
}  // namespace mote::test
