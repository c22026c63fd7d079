// FeedForward.
#include "nn/feed_forward.h"

#include "tests/nn/oracles.h"

namespace mote::test::feed_forward_test {
namespace {

TEST_CASE("FeedForward; with swiglu the silu of a gate times the rest") {
  const std::vector<std::pair<Activation, double (*)(double)>> forms{{Activation::gelu, gelu_oracle},
                                                                     {Activation::gelu_tanh, gelu_tanh_oracle},
                                                                     {Activation::silu, silu_oracle},
                                                                     {Activation::swiglu, silu_oracle}};
  for (const auto& [activation, f] : forms)
    for (const bool bias : {true, false}) {
      const bool gated = activation == Activation::swiglu;
      std::vector<std::string> names;
      for (const std::string layer : {"c_gate", "c_fc", "c_proj"})
        for (const std::string part : {".weight", ".bias"})
          if ((gated || layer != "c_gate") && (bias || part != ".bias")) names.push_back(layer + part);
      check_module(
          "FeedForward",
          [form = activation, bias](Generator& random) { return FeedForward(3, 5, random, form, 0, bias); },
          [](const FeedForward& m, In x) { return m(x[0]); },
          {.names = names,
           .inputs = {random_array({2, 2, 3}, 1)},
           .oracle =
               [gated, form = f](const Weights& w, const std::vector<Value>& x) {
                 const Row inside = linear_oracle(w, "c_fc.", x[0].x);
                 Row y = mapped(gated ? linear_oracle(w, "c_gate.", x[0].x) : inside, form);
                 for (std::size_t i = 0; i < y.size() && gated; ++i) y[i] *= inside[i];
                 return linear_oracle(w, "c_proj.", y);
               },
           .error = [](const FeedForward& m) { m(Tensor(zeros_of(2, 4))); },
           .error_text = std::string("linear: x [2, 4] needs a last extent of 3 for weight [5, 3] (in ") +
                         (gated ? "c_gate)" : "c_fc)")});
    }
}

TEST_CASE("FeedForward draws its gate, then c_fc, then c_proj, each weight before its bias") {
  Generator random(3), again(3);
  const FeedForward plain(3, 5, random), gated(3, 5, random, Activation::swiglu);
  CHECK(!plain.c_gate);
  for (const Linear* made : {&plain.c_fc, &plain.c_proj, &*gated.c_gate, &gated.c_fc, &gated.c_proj}) {
    const Linear drawn(made->weight.shape()[1], made->weight.shape()[0], again);
    CHECK((same_bits(made->weight.value(), drawn.weight.value()) && same_bits(made->bias.value(), drawn.bias.value())));
  }
  CHECK(random.get_state() == again.get_state());
}

}  // namespace
}  // namespace mote::test::feed_forward_test
