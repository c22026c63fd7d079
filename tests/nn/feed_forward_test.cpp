// FeedForward.
#include "nn/feed_forward.h"

#include "tests/nn/oracles.h"

namespace mote::test::feed_forward_test {
namespace {

TEST_CASE("FeedForward") {
  const std::vector<std::pair<Activation, double (*)(double)>> forms{
      {Activation::gelu, gelu_oracle}, {Activation::gelu_tanh, gelu_tanh_oracle}, {Activation::silu, silu_oracle}};
  for (const auto& [activation, f] : forms)
    for (const bool bias : {true, false})
      check_module(
          "FeedForward",
          [form = activation, bias](Generator& random) { return FeedForward(3, 5, random, form, 0, bias); },
          [](const FeedForward& m, In x) { return m(x[0]); },
          {.names = bias ? std::vector<std::string>{"c_fc.weight", "c_fc.bias", "c_proj.weight", "c_proj.bias"}
                         : std::vector<std::string>{"c_fc.weight", "c_proj.weight"},
           .inputs = {random_array({2, 2, 3}, 1)},
           .oracle = [form = f](const Weights& w,
                                const std::vector<Value>& x) { return feed_forward_oracle(w, "", x[0].x, form); },
           .error = [](const FeedForward& m) { m(Tensor(zeros_of(2, 4))); },
           .error_text = "linear: x [2, 4] needs a last extent of 3 for weight [5, 3] (in c_fc)"});
}

TEST_CASE("FeedForward with swiglu: silu of a gate times the rest") {
  for (const bool bias : {true, false})
    check_module(
        "FeedForward", [bias](Generator& random) { return FeedForward(3, 5, random, Activation::swiglu, 0, bias); },
        [](const FeedForward& m, In x) { return m(x[0]); },
        {.names = bias ? std::vector<std::string>{"c_gate.weight", "c_gate.bias", "c_fc.weight", "c_fc.bias",
                                                  "c_proj.weight", "c_proj.bias"}
                       : std::vector<std::string>{"c_gate.weight", "c_fc.weight", "c_proj.weight"},
         .inputs = {random_array({2, 2, 3}, 1)},
         .oracle =
             [](const Weights& w, const std::vector<Value>& x) {
               const Row gate = mapped(linear_oracle(w, "c_gate.", x[0].x), silu_oracle);
               Row y = linear_oracle(w, "c_fc.", x[0].x);
               for (std::size_t i = 0; i < y.size(); ++i) y[i] *= gate[i];
               return linear_oracle(w, "c_proj.", y);
             },
         .error = [](const FeedForward& m) { m(Tensor(zeros_of(2, 4))); },
         .error_text = "linear: x [2, 4] needs a last extent of 3 for weight [5, 3] (in c_gate)"});
  Generator random(1);
  const FeedForward m(3, 5, random, Activation::swiglu);
  scramble(m);
  m.c_gate->weight.set(Array::zeros({5, 3}));  // a gate of 0 lets nothing through but the last bias
  m.c_gate->bias.set(Array::zeros({5}));
  CHECK(same_bits(m(random_array({1, 3}, 2)).array().select(0, 0), m.c_proj.bias.value()));
  CHECK(!FeedForward(3, 5, random, Activation::silu).c_gate);
}

TEST_CASE("FeedForward drops its result in training only") {
  check_module(
      "FeedForward", [](Generator& random) { return FeedForward(3, 8, random, Activation::gelu, 0.5); },
      [](const FeedForward& m, In x) { return m(x[0]); },
      {.names = {"c_fc.weight", "c_fc.bias", "c_proj.weight", "c_proj.bias"}, .inputs = {random_array({8, 3}, 1)}});
  Generator random(2);
  FeedForward m(3, 8, random, Activation::gelu, 0.5);
  const Array x = random_array({20, 3}, 1);
  Index zeros = 0;
  for (const real v : m(x).to_vector()) zeros += v == 0;
  CHECK((zeros > 10 && zeros < 50));
  m.eval();
  for (const real v : m(x).to_vector()) CHECK(v != 0);
}

TEST_CASE("FeedForward draws c_fc first, then c_proj, each weight before its bias") {
  Generator random(3), again(3);
  const FeedForward m(3, 5, random);
  const Linear first(3, 5, again);
  const Linear second(5, 3, again);
  CHECK(same_bits(m.c_fc.weight.value(), first.weight.value()));
  CHECK(same_bits(m.c_proj.bias.value(), second.bias.value()));
  CHECK(random.get_state() == again.get_state());
  const FeedForward gated(3, 5, random, Activation::swiglu);  // the gate before both
  const Linear gate(3, 5, again);
  const Linear rest(3, 5, again);
  const Linear back(5, 3, again);
  CHECK(same_bits(gated.c_gate->weight.value(), gate.weight.value()));
  CHECK(same_bits(gated.c_fc.weight.value(), rest.weight.value()));
  CHECK(same_bits(gated.c_proj.weight.value(), back.weight.value()));
}

}  // namespace
}  // namespace mote::test::feed_forward_test
