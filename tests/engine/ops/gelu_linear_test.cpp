// gelu_linear: the bits of linear(gelu(x)), with less kept for backward.
#include "engine/ops/gelu_linear.h"

#include "engine/ops/create.h"
#include "tests/row_oracles.h"

namespace mote::test::gelu_linear_test {
namespace {

Oracle formula(GeluForm form) {
  return [form](const std::vector<Value>& in) {
    const Row bent = mapped(in[0].x, form == GeluForm::exact ? gelu_oracle : gelu_tanh_oracle);
    return linear_rows(bent, in[1], in.size() > 2 ? &in[2] : nullptr);
  };
}

}  // namespace

TEST_CASE("gelu_linear") {
  const Array x = random_array({2, 3, 5}, 1, -3, 3), weight = random_array({4, 5}, 2), bias = random_array({4}, 3);
  for (const GeluForm form : {GeluForm::exact, GeluForm::tanh}) {
    const auto with_bias = [form](In t) { return gelu_linear(t[0], t[1], t[2], form); };
    check_op("gelu_linear", with_bias, formula(form), {x, weight, bias},
             {.empty = {zeros({2, 0, 5}).array(), weight, bias},
              .error = [] { gelu_linear(zeros_of(2, 3), zeros_of(5, 4)); },
              .error_text = "gelu_linear: x [2, 3] needs a last extent of 4 for weight [5, 4]"});
    const auto without = [form](In t) { return gelu_linear(t[0], t[1], {}, form); };
    check_op("gelu_linear", without, formula(form), {x, weight}, {.empty = {zeros({2, 0, 5}).array(), weight}});
  }
}

TEST_CASE("gelu_linear: values and gradients are those of linear(gelu(x)), also where x needs none") {
  const Array dy = random_array({37, 6}, 4);
  for (const GeluForm form : {GeluForm::exact, GeluForm::tanh})
    for (const bool tracked : {true, false}) {
      std::vector<Array> results[2];
      for (const bool fused : {false, true}) {
        Tensor x = random_array({37, 21}, 1, -6, 6);
        if (tracked) x.requires_grad_();
        const Parameter weight(random_array({6, 21}, 2)), bias(random_array({6}, 3));
        const Tensor y = fused ? gelu_linear(x, weight, bias, form) : linear(gelu(x, form), weight, bias);
        y.backward(dy);
        results[fused] = {y.array(), weight.grad(), bias.grad()};
        if (tracked) results[fused].push_back(x.grad());
      }
      for (std::size_t i = 0; i < results[0].size(); ++i) CHECK(results[0][i].to_vector() == results[1][i].to_vector());
    }
}

}  // namespace mote::test::gelu_linear_test
