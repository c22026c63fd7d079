// Linear: check_module, shapes, PyTorch's initial numbers.
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

TEST_CASE("Linear draws PyTorch's numbers: weight, then bias") {
  // torch.manual_seed(123); m = nn.Linear(3, 4); m.weight, m.bias
  Generator random(123);
  const Linear m(3, 4, random);
  check_float32(m.weight.value(),
                {-0.235429645f, 0.0191244762f, -0.286745936f, 0.217726618f, -0.49193421f, 0.423223078f, -0.419641405f,
                 -0.459017664f, -0.364820182f, 0.261478186f, -0.213326395f, 0.216052175f});
  check_float32(m.bias.value(), {-0.490014136f, -0.350292057f, -0.211989194f, -0.11346072f});
  // torch.manual_seed(123); m = nn.Linear(20, 2); m.weight[0, :4], m.bias
  random.manual_seed(123);
  const Linear wide(20, 2, random);
  check_float32(wide.weight.value().reshape({-1}).slice(0, 0, 4),
                {-0.0911815092f, 0.00740687829f, -0.111056231f, 0.0843251571f});
  check_float32(wide.bias.value(), {-0.0417490639f, -0.11993932f});
}

TEST_CASE("Linear without a drawing Init draws nothing and starts as zeros") {
  Generator random(3);
  const GeneratorState before = random.get_state();
  const Linear m(3, 4, Init::none(random));
  CHECK(random.get_state() == before);
  CHECK(same_bits(m.weight.value(), Array::zeros({4, 3})));
}

}  // namespace
}  // namespace mote::test::linear_test
