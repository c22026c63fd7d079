// Tanh sigmoid relu gelu silu: check_op for each, special values.
#include "engine/ops/activation.h"

#include "engine/ops/create.h"
#include "tests/row_oracles.h"

namespace mote::test::activation_test {
namespace {

real gelu_at(double x, GeluForm form = GeluForm::exact) { return gelu(Tensor(static_cast<real>(x)), form).item(); }
real at(Tensor (*f)(const Tensor&), double x) { return f(Tensor(static_cast<real>(x))).item(); }

TEST_CASE("tanh") {
  check_op("tanh", [](In x) { return tanh(x[0]); }, each([](double x) { return std::tanh(x); }),
           {random_array({3, 11}, 1)});
}

TEST_CASE("sigmoid") {
  check_op("sigmoid", [](In x) { return sigmoid(x[0]); }, each([](double x) { return 1 / (1 + std::exp(-x)); }),
           {random_array({3, 11}, 1, -5, 5)});
}

TEST_CASE("relu") {
  check_op("relu", [](In x) { return relu(x[0]); }, each([](double x) { return x > 0 ? x : 0; }),
           {random_off_zero({3, 11}, 1)});
  const Run r([](In x) { return relu(x[0]); }, {array({5}, {0, -0.0, nan, inf, -inf})}, array({5}, {1, 1, 1, 1, 1}));
  CHECK(r.y.at({0}) == 0);
  CHECK(r.y.at({1}) == 0);
  CHECK(std::isnan(r.y.at({2})));
  CHECK(r.y.at({3}) == inf);
  CHECK(r.y.at({4}) == 0);
  CHECK(r.dx[0].at({0}) == 0);
  CHECK(r.dx[0].at({1}) == 0);
  CHECK(r.dx[0].at({2}) == 1);  // as in PyTorch: NaN is not below 0
  CHECK(r.dx[0].at({3}) == 1);
  CHECK(r.dx[0].at({4}) == 0);
}

TEST_CASE("gelu") {
  check_op("gelu", [](In x) { return gelu(x[0]); }, each(gelu_oracle), {random_array({3, 11}, 1, -4, 4)});
  check_op("gelu", [](In x) { return gelu(x[0], GeluForm::tanh); }, each(gelu_tanh_oracle),
           {random_array({3, 11}, 1, -4, 4)});
  for (const GeluForm form : {GeluForm::exact, GeluForm::tanh}) {
    CHECK(gelu_at(40, form) == 40);
    CHECK(gelu_at(-40, form) == 0);
    CHECK(gelu_at(0, form) == 0);
    CHECK(std::signbit(gelu_at(-0.0, form)));
    CHECK(std::isnan(gelu_at(nan, form)));
    const Tensor far = tensor({-inf, -1e30, -1e14, -1e4, 1e4, 1e14, 1e30, inf}).requires_grad_();
    gelu(far, form).backward(Array::full({8}, 1));
    CHECK(far.grad().to_vector() == std::vector<real>{0, 0, 0, 0, 1, 1, 1, 1});
    CHECK(gelu_at(-inf, form) == 0);  // NaN in PyTorch
    CHECK(gelu_at(-1e30, form) == 0);
    CHECK(gelu_at(inf, form) == inf);
  }
}

TEST_CASE("silu") {
  check_op("silu", [](In x) { return silu(x[0]); }, each(silu_oracle), {random_array({3, 11}, 1, -5, 5)});
  CHECK(at(silu, 0) == 0);
  CHECK(at(silu, 1000) == 1000);
  CHECK(at(silu, -1000) == 0);
  CHECK(std::isnan(at(silu, nan)));
  CHECK(at(silu, -inf) == 0);  // NaN in PyTorch
  CHECK(at(silu, -1e30) == 0);
  CHECK(at(silu, inf) == inf);
  const Tensor far = tensor({-inf, -1e30, 1e30, inf}).requires_grad_();
  silu(far).backward(Array::full({4}, 1));
  CHECK(far.grad().to_vector() == std::vector<real>{0, 0, 1, 1});
}

TEST_CASE("softplus, leaky_relu") {
  check_op("softplus", [](In x) { return softplus(x[0]); }, each([](double x) { return std::log1p(std::exp(x)); }),
           {random_array({3, 11}, 1, -5, 5)});
  check_op("leaky_relu", [](In x) { return leaky_relu(x[0], 0.2); }, each([](double x) { return x > 0 ? x : 0.2 * x; }),
           {random_off_zero({3, 11}, 1)}, {.tolerance = f64 ? 1e-12 : 1e-5});
  // PyTorch: F.softplus(x), F.leaky_relu(x)
  const std::vector<double> x{0, -0.0, inf, -inf, nan, 0.5, -0.5, 1.5, -2.5, 20, 100, -100};
  check_torch([](In t) { return softplus(t[0]); }, x,
              {0.693147182, 0.693147182, inf, 0, nan, 0.974076986, 0.474076986, 1.70141327, 0.078889735, 20, 100, 0},
              {0.5, 0.5, 1, 0, nan, 0.622459352, 0.377540678, 0.817574501, 0.0758581758, 1, 1, 0});
  check_torch([](In t) { return leaky_relu(t[0]); }, x,
              {0, -0.0, inf, -inf, nan, 0.5, -0.00499999989, 1.5, -0.0249999985, 20, 100, -1},
              {0.01, 0.01, 1, 0.01, 0.01, 1, 0.01, 1, 0.01, 1, 1, 0.01});
}

TEST_CASE("pointwise: an op from a formula and its slope; gradcheck finds a wrong slope") {
  const auto f = [](real x) { return std::acos(x); };
  const auto right = [](real x) { return -1 / std::sqrt(1 - x * x); };
  const auto wrong = [](real x) { return -1 / std::sqrt(1 + x * x); };
  check_op("arccos", [&](In x) { return pointwise("arccos", x[0], f, right); },
           each([](double x) { return std::acos(x); }), {random_array({3, 11}, 1, -0.9, 0.9)});
  const std::vector<Array> x{random_array({7}, 1, -0.9, 0.9)};
  CHECK_FALSE(gradcheck([&](In t) { return pointwise("arccos", t[0], f, wrong); }, x).ok);

  const real power = 3;  // both may capture numbers
  const auto cube = [power](real x) { return std::pow(x, power); };
  const auto slope = [power](real x) { return power * x * x; };
  CHECK(gradcheck([&](In t) { return pointwise("cube", t[0], cube, slope); }, x).ok);
}

}  // namespace
}  // namespace mote::test::activation_test
