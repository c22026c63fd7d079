// Linear: check_module, shapes. Its initial numbers: init_vectors_test.
#include "nn/linear.h"

#include "engine/ops/reduce.h"
#include "tests/check_module.h"
#include "tests/nn/oracles.h"

namespace mote::test::linear_test {
namespace {

TEST_CASE("Linear") {
  for (const bool bias : {true, false})
    check_module(
        "Linear", [&](Generator& random) { return Linear(3, 4, random, bias); },
        [](const Linear& m, In x) { return m(x[0]); },
        {.names = bias ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"},
         .inputs = {random_array({2, 5, 3}, 1)},
         .oracle = [](const Weights& w, const std::vector<Value>& x) { return linear_oracle(w, "", x[0].x); },
         .error = [](const Linear& m) { m(Tensor(zeros_of(2, 5))); },
         .error_text = "linear: x [2, 5] needs a last extent of 3 for weight [4, 3] (in Linear)"});
}

TEST_CASE("Linear with no inputs gives its bias, with no outputs nothing") {
  Generator random(1);
  const Linear none(0, 4, random), one(1, 4, random), nowhere(3, 0, random);
  CHECK(none.weight.shape() == Shape{4, 0});
  CHECK(same_bits(none(Tensor(Array::zeros({2, 0}))).array(), copy_of(none.bias.value().expand({2, 4}))));
  CHECK(one(Tensor(Array::full({1, 1}, 2))).array().at({0, 3}) ==
        std::fma(real(2), one.weight.value().at({3, 0}), real(0)) + one.bias.value().at({3}));
  CHECK(nowhere(Tensor(Array::zeros({2, 3}))).shape() == Shape{2, 0});
  sum(nowhere(Tensor(Array::zeros({2, 3})))).backward();
  CHECK(nowhere.weight.grad().shape() == Shape{0, 3});
}

}  // namespace
}  // namespace mote::test::linear_test
