// The activation layers, and Activation's names.
#include "nn/activation.h"

#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::activation_test {
namespace {

template <class Make>
void check_activation(const std::string& name, const Make& make, const std::function<double(double)>& f) {
  using M = std::invoke_result_t<const Make&, Generator&>;
  check_module(name, make, [](const M& m, In x) { return m(x[0]); },
               {.inputs = {random_off_zero({3, 5}, 1)},
                .oracle = [&](const Weights&, const std::vector<Value>& x) { return mapped(x[0].x, f); }});
}

double relu_oracle(double x) { return x > 0 ? x : 0; }
double tanh_oracle(double x) { return std::tanh(x); }

TEST_CASE("activation layers") {
  check_activation(
      "ReLU", [](Generator&) { return ReLU(); }, relu_oracle);
  check_activation(
      "GELU", [](Generator&) { return GELU(); }, gelu_oracle);
  check_activation(
      "GELU tanh", [](Generator&) { return GELU(GeluForm::tanh); }, gelu_tanh_oracle);
  check_activation(
      "SiLU", [](Generator&) { return SiLU(); }, silu_oracle);
  check_activation(
      "Tanh", [](Generator&) { return Tanh(); }, tanh_oracle);
  check_activation(
      "Sigmoid", [](Generator&) { return Sigmoid(); }, [](double x) { return 1 / (1 + std::exp(-x)); });
}

TEST_CASE("activate: every name of a config") {
  const Array x = random_array({64}, 3);
  const std::vector<std::pair<std::string, double (*)(double)>> all{{"gelu", gelu_oracle},
                                                                    {"gelu_tanh", gelu_tanh_oracle},
                                                                    {"relu", relu_oracle},
                                                                    {"silu", silu_oracle},
                                                                    {"tanh", tanh_oracle}};
  for (const auto& form : all) {
    const Row expected = mapped(Value(x).x, form.second);
    CHECK_MESSAGE(distance(activate(from_text<Activation>("activation", form.first), x).to_vector(), expected) <
                      (f64 ? 1e-12 : 1e-6),
                  form.first);
  }
  REFUSES(from_text<Activation>("activation", "Gelu"));
  CHECK(text_of(Activation::swiglu) == "swiglu");
  REFUSES(activate(Activation::swiglu, x));
  REFUSES(activate(static_cast<Activation>(99), x));
}

}  // namespace
}  // namespace mote::test::activation_test
