// GPT's construction: names, counts, initial numbers, first loss, refusals; and the whole model in double.
#include "models/gpt.h"

#include "tests/nn/oracles.h"

namespace mote::test::gpt_test {
namespace {

const GPTConfig tiny{.block_size = 3, .vocab_size = 5, .n_layer = 1, .n_head = 2, .n_embd = 4};

const std::vector<std::string> one_layer{"transformer.wte.weight",
                                         "transformer.wpe.weight",
                                         "transformer.h.0.ln_1.weight",
                                         "transformer.h.0.ln_1.bias",
                                         "transformer.h.0.attn.c_attn.weight",
                                         "transformer.h.0.attn.c_attn.bias",
                                         "transformer.h.0.attn.c_proj.weight",
                                         "transformer.h.0.attn.c_proj.bias",
                                         "transformer.h.0.ln_2.weight",
                                         "transformer.h.0.ln_2.bias",
                                         "transformer.h.0.mlp.c_fc.weight",
                                         "transformer.h.0.mlp.c_fc.bias",
                                         "transformer.h.0.mlp.c_proj.weight",
                                         "transformer.h.0.mlp.c_proj.bias",
                                         "transformer.ln_f.weight",
                                         "transformer.ln_f.bias"};

Row small_gpt(const Weights& w, const IntArray& ids, const GPTConfig& c) {
  const Index T = ids.shape()[1];
  Row x;
  for (Index i = 0; i < ids.numel(); ++i)
    for (Index j = 0; j < c.n_embd; ++j)
      x.push_back(w.at("transformer.wte.weight").x[at(ids.data()[i] * c.n_embd + j)] +
                  w.at("transformer.wpe.weight").x[at(i % T * c.n_embd + j)]);
  for (Index layer = 0; layer < c.n_layer; ++layer) {
    std::string prefix = "transformer.h.";
    prefix.append(std::to_string(layer)).append(".");
    x = transformer_block_oracle(w, prefix, x, {ids.shape()[0], T, c.n_embd}, c.n_head, causal(), true);
  }
  return linear_oracle(w, "lm_head.", layer_norm_oracle(w, "transformer.ln_f.", x));
}

TEST_CASE("GPT") {
  const IntArray ids = ints({{1, 4, 0}, {2, 2, 3}});
  const auto run = [&](const GPT& m, In) { return m(ids); };
  check_module("GPT", [](Generator& random) { return GPT(tiny, random); }, run,
               {.names = one_layer,  // tied: lm_head.weight is the first of them
                .error =
                    [](const GPT& m) {
                      m(ints({{1, 5}}));
                    },
                .error_text = "embedding: id 5 is out of range for V = 5 (in transformer.wte)"});
  GPTConfig untied = tiny;
  untied.tie_weights = false;
  std::vector<std::string> names = one_layer;
  names.push_back("lm_head.weight");
  check_module("GPT", [&](Generator& random) { return GPT(untied, random); }, run,
               {.names = names,
                .oracle = [&](const Weights& w, const std::vector<Value>&) { return small_gpt(w, ids, untied); },
                .tolerance = f64 ? 1e-12 : 2e-5,
                .gradient_tolerance = f64 ? 1e-6 : 3e-4,
                .error =
                    [](const GPT& m) {
                      m(ints({{1, 2, 3, 4}}));
                    },
                .error_text = "GPT: T = 4 is above block_size 3 (in GPT)"});
}

TEST_CASE("GPT with dropout everywhere holds to the same") {
  GPTConfig c = tiny;
  c.dropout = 0.2;
  const IntArray ids = ints({{1, 4, 0}, {2, 2, 3}});
  check_module(
      "GPT", [&](Generator& random) { return GPT(c, random); }, [&](const GPT& m, In) { return m(ids); },
      {.names = one_layer});
}

TEST_CASE("GPT's names are nanoGPT's, in its order") {
  Generator random(1);
  const GPT m(tiny, random);
  std::vector<std::string> names, expected = one_layer;
  for (const NamedParameter& p : named_parameters(m, true)) names.push_back(p.name);
  expected.push_back("lm_head.weight");
  CHECK(names == expected);
}

/// The number of parameters, worked out from the config alone.
Index count_formula(const GPTConfig& c) {
  const Index C = c.n_embd, norm = C * (c.bias ? 2 : 1);
  const bool attention_bias = c.attention_bias < 0 ? c.bias : c.attention_bias > 0;
  const bool mlp_bias = c.mlp_bias < 0 ? c.bias : c.mlp_bias > 0;
  const Index attn = 4 * C * C + (attention_bias ? 4 * C : 0), mlp = 8 * C * C + (mlp_bias ? 5 * C : 0);
  return (c.vocab_size * (c.tie_weights ? 1 : 2) + c.block_size) * C + c.n_layer * (2 * norm + attn + mlp) + norm;
}

TEST_CASE("GPT's number of parameters follows a formula, which gives GPT-2's 124,439,808") {
  Generator random(1);
  for (const bool bias : {true, false})
    for (const int attention_bias : {-1, 0, 1})
      for (const int mlp_bias : {-1, 0, 1})
        for (const bool tie : {true, false}) {
          const GPTConfig c{.block_size = 7,
                            .vocab_size = 11,
                            .n_layer = 2,
                            .n_head = 3,
                            .n_embd = 6,
                            .bias = bias,
                            .attention_bias = attention_bias,
                            .mlp_bias = mlp_bias,
                            .tie_weights = tie};
          CHECK(parameter_count(GPT(c, random)) == count_formula(c));
        }
  for (const Index layers : {1, 3})
    for (const Index width : {4, 10}) {
      const GPTConfig c{.block_size = 5, .vocab_size = 13, .n_layer = layers, .n_head = 2, .n_embd = width};
      CHECK(parameter_count(GPT(c, random)) == count_formula(c));
    }
  GPTConfig gpt2;  // by the formula: the model itself would fill half a gigabyte
  gpt2.vocab_size = 50257;
  CHECK(count_formula(gpt2) == 124439808);
  CHECK((gpt2.block_size == 1024 && gpt2.n_layer == 12 && gpt2.n_head == 12 && gpt2.n_embd == 768));
}

double deviation(const std::vector<real>& x) {
  double mean = 0, square = 0;
  for (const real v : x) mean += static_cast<double>(v) / static_cast<double>(x.size());
  for (const real v : x) square += (static_cast<double>(v) - mean) * (static_cast<double>(v) - mean);
  return std::sqrt(square / static_cast<double>(x.size()));
}

TEST_CASE("GPT starts with matrices of 0.02, c_proj of 0.02 / sqrt(2 n_layer), biases 0, gains 1") {
  for (const Index layers : {1, 12}) {
    Generator random(2);
    const GPT m({.block_size = 32, .vocab_size = 200, .n_layer = layers, .n_head = 4, .n_embd = 96}, random);
    std::vector<real> residual, others;
    for (const NamedParameter& p : named_parameters(m)) {
      const std::vector<real> x = p.parameter.value().to_vector();
      if (p.parameter.shape().rank() == 1) {
        CHECK_MESSAGE(x == std::vector<real>(x.size(), p.name.ends_with("weight") ? real(1) : real(0)), p.name);
        continue;
      }
      std::vector<real>& all = p.name.ends_with("c_proj.weight") ? residual : others;
      all.insert(all.end(), x.begin(), x.end());
    }
    CHECK(deviation(residual) == doctest::Approx(0.02 / std::sqrt(2.0 * static_cast<double>(layers))).epsilon(0.02));
    CHECK(deviation(others) == doctest::Approx(0.02).epsilon(0.02));
  }
}

TEST_CASE("GPT draws each matrix once, in visit order, and nothing else") {
  for (const bool tie : {true, false}) {
    Generator random(4), again(4);
    const GPT m({.block_size = 5, .vocab_size = 7, .n_layer = 2, .n_head = 2, .n_embd = 6, .tie_weights = tie}, random);
    const Init draw = again;
    for (const NamedParameter& p : named_parameters(m)) {
      if (p.parameter.shape().rank() < 2) continue;
      const double std = p.name.ends_with("c_proj.weight") ? 0.02 / std::sqrt(4.0) : 0.02;
      CHECK_MESSAGE(same_bits(p.parameter.value(), draw.normal(p.parameter.shape(), 0, std)), p.name);
    }
    CHECK(random.get_state() == again.get_state());
  }
}

TEST_CASE("GPT's first loss on random tokens is ln V, within a twentieth") {
  for (const Index V : {11, 65, 1000}) {
    Generator random(5);
    const GPT m({.block_size = 32, .vocab_size = V, .n_layer = 2, .n_head = 4, .n_embd = 64}, random);
    IntArray ids({4, 32}), targets({4, 32});
    random.randint({ids.mutate(), 128}, 0, V);
    random.randint({targets.mutate(), 128}, 0, V);
    CHECK(static_cast<double>(m.loss(ids, targets).item()) ==
          doctest::Approx(std::log(static_cast<double>(V))).epsilon(0.05));
  }
  CHECK(perplexity(std::log(65.0)) == doctest::Approx(65.0));
}

TEST_CASE("GPT refuses sizes that make no model, by name") {
  Generator random(1);
  const auto refused = [&](GPTConfig c) { return error_of([&] { GPT(c, random); }); };
  CHECK(refused({.n_head = 5, .n_embd = 768}) == "GPT: n_embd 768 is not divisible by n_head 5");
  CHECK(refused({.vocab_size = 0}) == "GPT: vocab_size 0 must be at least 1");
  CHECK(refused({.block_size = 0}) == "GPT: block_size 0 must be at least 1");
  CHECK(refused({.n_layer = 0}) == "GPT: n_layer 0 must be at least 1");
  CHECK(refused({.n_head = -2}) == "GPT: n_head -2 must be at least 1");
  CHECK(refused({.n_embd = 0}) == "GPT: n_embd 0 must be at least 1");
  GPTConfig c = tiny;
  c.dropout = 1.5;
  CHECK(refused(c) == "Dropout: p = 1.5 is not a probability");
}

}  // namespace
}  // namespace mote::test::gpt_test
