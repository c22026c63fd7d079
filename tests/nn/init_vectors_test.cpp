// Layers and initialisers against the weights that PyTorch's draw, tests/vectors/torch_random.txt: every number, and
// the word that follows. The same digits in both builds of the library: weights are drawn as float32.
#include <doctest/doctest.h>

#include <span>
#include <string>
#include <vector>

#include "engine/ops/sample.h"
#include "nn/nn.h"
#include "tests/tools.h"
#include "tests/torch_random.h"

namespace mote::test::init_vectors_test {
namespace {

/// Every parameter under its name.
void check_parameters(TorchDraw& d, const Module& layer) {
  for (const auto& [name, parameter] : named_parameters(layer)) check_digits(d.part(name), parameter.value());
}
/// The layer that make(random) returns.
template <class Make>
TorchRule layer(const Make& make) {
  return [make](TorchDraw& d) { check_parameters(d, make(d.random)); };
}

TorchRule attention(Index width, Index heads, bool bias) {
  return [=](TorchDraw& d) {
    const MultiHeadAttention m(width, heads, d.random, {}, {.bias = bias, .torch_init = true});
    const auto packed = [&](const Parameter Linear::*what) {  // PyTorch keeps the three in one
      return cat({Tensor((m.q_proj.*what).value()), Tensor((m.k_proj.*what).value()), Tensor((m.v_proj.*what).value())},
                 0)
          .array();
    };
    check_digits(d.part("in_proj_weight"), packed(&Linear::weight));
    if (bias) check_digits(d.part("in_proj_bias"), packed(&Linear::bias));
    check_digits(d.part("out_proj.weight"), m.o_proj.weight.value());
    if (bias) check_digits(d.part("out_proj.bias"), m.o_proj.bias.value());
  };
}

/// What fill(parameter, random) puts into a weight of this shape.
template <class Fill>
TorchRule filled(const Shape& shape, const Fill& fill) {
  return [=](TorchDraw& d) {
    const Parameter p(Array::full(shape, -7));
    fill(p, d.random);
    check_digits(d.part(), p.value());
  };
}

/// nanoGPT before it is taught anything, with one block.
struct Model : Layer<Model> {
  Embedding wte, wpe;
  Sequential h;
  LayerNorm ln_f;
  Linear lm_head;

  explicit Model(const Generator& random)
      : wte(11, 16, random),
        wpe(8, 16, random),
        h({TransformerBlock(16, 2, random)}),
        ln_f(16),
        lm_head(16, 11, random, false) {}
  void visit(Visitor& v) override {
    v("wte", wte);
    v("wpe", wpe);
    v("h", h);
    v("ln_f", ln_f);
    v("lm_head", lm_head);
  }
};
/// A parameter's name in the file, whose block has no parts.
std::string name_there(std::string name) {
  for (const auto& [here, there] :
       {std::pair<std::string, std::string>{"attn.", ""}, {"mlp.c_p", "mlp_p"}, {"mlp.", ""}})
    if (const std::size_t at = name.find(here); at != std::string::npos) name.replace(at, here.size(), there);
  return name;
}

/// Constructors draw every weight once, and apply() draws it again, in an order that decides which numbers it gets.
void module_then_apply(TorchDraw& d) {
  Model model(d.random);
  const std::vector<NamedParameter> named = named_parameters(model);
  std::vector<std::string> order;
  const auto again = [&](const Parameter& weight) {
    init::normal(weight, 0, 0.02, d.random);
    for (const auto& [name, parameter] : named)
      if (parameter.value().data() == weight.value().data())
        order.push_back(name_there(name.substr(0, name.rfind('.'))));
  };
  mote::apply(model, [&](Module& m) {
    if (const Embedding* table = dynamic_cast<Embedding*>(&m)) again(table->weight);
    if (const Linear* linear = dynamic_cast<Linear*>(&m)) {
      again(linear->weight);
      if (linear->bias.defined()) init::constant(linear->bias, 0);
    }
  });
  CHECK(order == d.part("order_of_second_pass").texts);
  for (const auto& [name, parameter] : named) {
    const Array all = parameter.value().reshape({-1});
    if (parameter.shape().rank() == 2) {
      check_digits(d.part(name_there(name) + " first 3"), all.slice(0, 0, 3));
      check_digits(d.part(name_there(name) + " last 3"), all.slice(0, -3, all.numel()));
    } else {
      const bool gain = name.find("ln_") != std::string::npos && name.ends_with("weight");
      CHECK(same_bits(all, Array::full(all.shape(), gain)));
    }
  }
  check_digits(d.part("next randint(0, 11, (6,))"), randint(0, 11, {6}, d.random).to_vector());
}

std::vector<TorchRules> rules() {
  using Weight = const Parameter&;
  using Random = const Generator&;
  return {
      {"linear_3_2", layer([](Random random) { return Linear(3, 2, random); })},
      {"linear_3_2_nobias", layer([](Random random) { return Linear(3, 2, random, false); })},
      {"linear_6_7", layer([](Random random) { return Linear(6, 7, random); })},
      {"linear_7_5", layer([](Random random) { return Linear(7, 5, random); })},
      {"linear_5_4_nobias", layer([](Random random) { return Linear(5, 4, random, false); })},
      {"embedding_4_3", layer([](Random random) { return Embedding(4, 3, random); })},
      {"embedding_7_5", layer([](Random random) { return Embedding(7, 5, random); })},
      {"embedding_6_4_padding_2", layer([](Random random) { return Embedding(6, 4, random, 2); })},
      {"embedding_5_3_padding_4", layer([](Random random) { return Embedding(5, 3, random, 4); })},
      {"layernorm_6", layer([](Random) { return LayerNorm(6); })},
      {"sequential_linear4x5_layernorm5_dropout_linear5x3", layer([](Random random) {
         return Sequential{Linear(4, 5, random), LayerNorm(5), Dropout(0.1, random), Linear(5, 3, random)};
       })},
      {"nn_multiheadattention_4_2", attention(4, 2, true)},
      {"nn_multiheadattention_8_2", attention(8, 2, true)},
      {"nn_multiheadattention_8_2_nobias", attention(8, 2, false)},
      {"xavier_uniform_3x4", filled({3, 4}, [](Weight w, Random random) { init::xavier_uniform(w, random); })},
      {"xavier_uniform_gain0.75_5x6",
       filled({5, 6}, [](Weight w, Random random) { init::xavier_uniform(w, random, 0.75); })},
      {"xavier_normal_3x4", filled({3, 4}, [](Weight w, Random random) { init::xavier_normal(w, random); })},
      {"xavier_normal_gain0.75_5x6",
       filled({5, 6}, [](Weight w, Random random) { init::xavier_normal(w, random, 0.75); })},
      {"kaiming_uniform_relu_5x6", filled({5, 6}, [](Weight w, Random random) { init::kaiming_uniform(w, random); })},
      {"kaiming_normal_relu_4x5", filled({4, 5}, [](Weight w, Random random) { init::kaiming_normal(w, random); })},
      {"kaiming_normal_relu_5x6", filled({5, 6}, [](Weight w, Random random) { init::kaiming_normal(w, random); })},
      {"kaiming_normal_relu_2x7", filled({2, 7}, [](Weight w, Random random) { init::kaiming_normal(w, random); })},
      {"module_then_apply_seed_1337", module_then_apply},
  };
}

TEST_CASE("layers and initialisers draw the weights of torch_random.txt") {
  check_torch_draws(rules(), [](const std::string& name) { return layer_draws.contains(name); });
  Names known;
  for (const TorchRules& r : rules()) known.merge(names_of(r.names));
  CHECK(known == layer_draws);
}

}  // namespace
}  // namespace mote::test::init_vectors_test
