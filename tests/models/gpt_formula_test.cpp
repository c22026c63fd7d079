// GPT with every option against the whole model in double loops; its presets through check_module; the attention it
// shows.
#include "tests/models/gpt_oracle.h"

namespace mote::test::gpt_formula_test {
namespace {

/// Logits and attention of both passes, whose difference is a rounding error.
void check_formula(const GPTConfig& c, const IntArray& ids) {
  GPT m = lively_gpt(c, 0.5);
  std::vector<Row> weights;
  const Row expected = gpt_oracle(weights_of(m), ids, c, &weights);
  const double off = distance(m(ids).to_vector(), expected);
  CHECK_MESSAGE(off < (f64 ? 1e-13 : 1e-5), text_of(c), ": ", off);
  const Index T = ids.shape()[1];
  for (Index layer = 0; layer < c.n_layer; ++layer) {
    const Array shown = m.attention_weights(ids, layer);
    CHECK(shown.shape() == Shape{ids.shape()[0], c.n_head, T, T});
    const double error = distance(shown.to_vector(), weights[at(layer)]);
    CHECK_MESSAGE(error < (f64 ? 1e-13 : 1e-5), text_of(c), ": attention of layer ", layer, ": ", error);
    const std::vector<real> p = shown.to_vector();
    for (std::size_t row = 0; row < p.size(); row += at(T)) {
      double total = 0;
      for (std::size_t j = row; j < row + at(T); ++j) {
        total += static_cast<double>(p[j]);
        if (weights[at(layer)][j] == 0) CHECK(p[j] == 0);  // the future, and what is behind the window
      }
      CHECK(std::abs(total - 1) < (f64 ? 1e-14 : 1e-6));
    }
  }
}

std::vector<GPTConfig> variants(const GPTConfig& from) {
  std::vector<GPTConfig> all;
  for (const NormKind norm : {NormKind::layer_norm, NormKind::rms_norm})
    for (const NormOrder order : {NormOrder::pre, NormOrder::post})
      for (const Index kv : {1, 2, 4})
        for (const Index window : {0, 1, 3}) {
          GPTConfig c = from;
          c.norm = norm, c.norm_order = order, c.n_kv_head = kv, c.window = window;
          all.push_back(c);
        }
  return all;
}

TEST_CASE("GPT: every position, norm, order, number of key heads and window against the formula") {
  const IntArray ids = random_tokens({2, 7}, 11, 3);
  for (const std::string& position : position_names)
    for (const GPTConfig& c : variants(toy(position))) check_formula(c, ids);
  GPTConfig partly = toy("rotary");
  for (const double fraction : {0.5, 0.7}) {  // two and four of six columns; only with four does the base count
    partly.rotary = {.base = 50, .fraction = fraction};
    for (const GPTConfig& c : variants(partly)) check_formula(c, ids);
  }
}

TEST_CASE("GPT: every activation, attention alone, six heads, biases and ties against the formula") {
  const IntArray ids = random_tokens({2, 7}, 11, 4);
  for (const std::string& position : position_names)
    for (const NormOrder order : {NormOrder::pre, NormOrder::post}) {
      GPTConfig c = toy(position);
      c.norm_order = order;
      for (const char* activation : {"gelu", "gelu_tanh", "relu", "silu", "tanh", "swiglu"}) {
        c.activation = activation_from(activation);
        check_formula(c, ids);
        c.bias = !c.bias;  // three of them with, three without, and the other way round after the next
      }
      c.tie_weights = true;
      check_formula(c, ids);
      c.feed_forward = false;
      check_formula(c, ids);
      c.norm_eps = 0.5;
      check_formula(c, ids);
      c.n_head = 6, c.n_kv_head = 3;  // ALiBi's slopes are woven of two rows
      check_formula(c, ids);
    }
}

TEST_CASE("GPT: the presets, shrunk, hold to all that is promised of a module") {
  const IntArray ids = ints({{1, 4, 0}, {2, 2, 3}});
  for (const char* name : {"gpt2", "nanogpt", "llama", "attention_only"}) {
    GPTConfig c = GPTConfig::preset(name);
    c.block_size = 3, c.vocab_size = 5, c.n_layer = 1, c.n_head = 2, c.n_embd = 4, c.n_inner = 3;
    c.n_kv_head = c.n_kv_head > 0 ? 1 : 0;
    c.tie_weights = false;  // an oracle has every weight once
    Generator any(1);
    std::vector<std::string> names;
    for (const NamedParameter& p : named_parameters(GPT(c, any))) names.push_back(p.name);
    check_module(
        name, [&](Generator& random) { return GPT(c, random); }, [&](const GPT& m, In) { return m(ids); },
        {.names = names,  // gpt_config_test.cpp has the list of each
         .oracle = [&](const Weights& w, const std::vector<Value>&) { return gpt_oracle(w, ids, c); },
         .tolerance = f64 ? 1e-12 : 2e-5,
         .gradient_tolerance = f64 ? 1e-6 : 5e-4,
         .error =
             [](const GPT& m) {
               m(ints({{1, 2, 3, 4}}));
             },
         .error_text = "GPT: T = 4 is above block_size 3 (in GPT)"});
  }
}

TEST_CASE("GPT: gradients of every position and norm order along a random direction" * doctest::skip(!f64)) {
  const IntArray ids = random_tokens({2, 9}, 11, 3), targets = random_tokens({2, 9}, 11, 4);
  for (const std::string& position : position_names)
    for (const NormOrder order : {NormOrder::pre, NormOrder::post})
      for (const Index window : {0, 4}) {
        GPTConfig c = toy(position);
        c.norm_order = order, c.window = window, c.n_kv_head = 2, c.activation = Activation::swiglu;
        const GPT m = lively_gpt(c, 0.4);
        std::vector<std::pair<std::string, Parameter>> all;
        for (const NamedParameter& p : named_parameters(m)) all.emplace_back(p.name, p.parameter);
        const GradcheckResult result = gradcheck([&] { return m.loss(ids, targets); }, all,
                                                 {.mode = GradcheckOptions::Mode::directional, .tolerance = 1e-6});
        CHECK_MESSAGE(result.ok, text_of(c), ": ", result.text);
        CHECK(result.without_gradient.empty());
      }
}

TEST_CASE("GPT: attention_weights in every mode leaves nothing behind; what it refuses") {
  GPTConfig c = toy("rotary");
  c.dropout = 0.5;
  GPT m = lively_gpt(c);
  const IntArray ids = random_tokens({2, 5}, 11, 3);
  const Array w = m.attention_weights(ids, 1);
  m.train();
  const Leaks leaks;
  CHECK(same_bits(m.attention_weights(ids, 1), w));  // in evaluation, whatever the model is in
  CHECK(m.training());
  CHECK(leaks.nodes() == 0);
  CHECK(error_of([&] { m.attention_weights(ids, 2); }) == "attention_weights: layer 2 is not one of 2");
  CHECK(error_of([&] { m.attention_weights(ids, -1); }) == "attention_weights: layer -1 is not one of 2");
  CHECK(error_of([&] {
          m.attention_weights(random_tokens({1, 10}, 11, 3), 0);
        }) == "GPT: T = 10 is above block_size 9");
  c.window = 4;
  GPT unbounded = lively_gpt(c);
  CHECK(unbounded.attention_weights(random_tokens({1, 30}, 11, 3), 1).shape() == Shape{1, 4, 30, 30});
}

}  // namespace
}  // namespace mote::test::gpt_formula_test
