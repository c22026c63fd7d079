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
             {.required = 2,
              .empty = {zeros({2, 0, 5}).array(), weight, bias},
              .error = [] { gelu_linear(zeros_of(2, 3), zeros_of(5, 4)); },
              .error_text = "gelu_linear: x [2, 3] needs a last extent of 4 for weight [5, 4]"});
    const auto without = [form](In t) { return gelu_linear(t[0], t[1], {}, form); };
    check_op("gelu_linear", without, formula(form), {x, weight}, {.empty = {zeros({2, 0, 5}).array(), weight}});
  }
}

TEST_CASE("gelu_linear: the bits of linear(gelu(x)), forward and backward") {
  const std::vector<Array> inputs{random_array({37, 21}, 1, -6, 6), random_array({6, 21}, 2), random_array({6}, 3)};
  for (const GeluForm form : {GeluForm::exact, GeluForm::tanh})
    CHECK(Run([&](In t) { return gelu_linear(t[0], t[1], t[2], form); }, inputs) ==
          Run([&](In t) { return linear(gelu(t[0], form), t[1], t[2]); }, inputs));
}

}  // namespace mote::test::gelu_linear_test
