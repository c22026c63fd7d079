// gelu_linear: the bits of linear(gelu(x)), with less kept for backward.
#include "engine/ops/gelu_linear.h"

#include "engine/ops/create.h"
#include "tests/support.h"

namespace mote::test::gelu_linear_test {
namespace {

double gelu_of(double x, GeluForm form) {
  if (form == GeluForm::exact) return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0)));
  return 0.5 * x * (1 + std::tanh(std::sqrt(2 / std::acos(-1.0)) * (x + 0.044715 * x * x * x)));
}

Oracle formula(GeluForm form) {
  return [form](const std::vector<Value>& in) {
    const std::size_t width = static_cast<std::size_t>(in[1].shape[1]), out = static_cast<std::size_t>(in[1].shape[0]);
    std::vector<double> y;
    for (std::size_t row = 0; row * width < in[0].x.size(); ++row)
      for (std::size_t o = 0; o < out; ++o) {
        double sum = in.size() > 2 ? in[2].x[o] : 0;
        for (std::size_t i = 0; i < width; ++i) sum += gelu_of(in[0].x[row * width + i], form) * in[1].x[o * width + i];
        y.push_back(sum);
      }
    return y;
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
