// MLP.
#include "models/mlp.h"

#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::mlp_test {
namespace {

TEST_CASE("MLP") {
  const ModuleOracle oracle = [](const Weights& w, const std::vector<Value>& x) {
    Row y = mapped(linear_oracle(w, "layers.0.", x[0].x), [](double v) { return std::tanh(v); });
    y = mapped(linear_oracle(w, "layers.1.", y), [](double v) { return std::tanh(v); });
    return linear_oracle(w, "layers.2.", y);
  };
  check_module(
      "MLP",
      [](Generator& random) {
        return MLP({2, 4, 3, 2}, random, Activation::tanh);
      },
      [](const MLP& m, In x) { return m(x[0]); },
      {.names = {"layers.0.weight", "layers.0.bias", "layers.1.weight", "layers.1.bias", "layers.2.weight",
                 "layers.2.bias"},
       .inputs = {random_array({3, 2}, 1)},
       .oracle = oracle,
       .error = [](const MLP& m) { m(Tensor(zeros_of(3, 3))); },
       .error_text = "linear: x [3, 3] needs a last extent of 2 for weight [4, 2] (in layers.0)"});
}

TEST_CASE("MLP of two widths is one linear layer; relu unless told otherwise; nothing after the last layer") {
  Generator random(1), again(1);
  const MLP line({3, 2}, random);
  const Linear alone(3, 2, again);
  const Array x = random_array({4, 3}, 1);
  CHECK(same_bits(line(x).array(), alone(x).array()));
  const MLP two({3, 5, 2}, random);
  const Tensor inner = relu(two.layers[0](x));
  CHECK(same_bits(two(x).array(), two.layers[1](inner).array()));
  CHECK(parameter_count(two) == 3 * 5 + 5 + 5 * 2 + 2);
  REFUSES(MLP({3}, random));
}

}  // namespace
}  // namespace mote::test::mlp_test
