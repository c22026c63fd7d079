// LayerNorm and RMSNorm: check_module, PyTorch's start, rows that are constant, short, huge or broken.
#include "nn/layer_norm.h"
#include "nn/rms_norm.h"
#include "tests/nn/oracles.h"

namespace mote::test::norms_test {
namespace {

TEST_CASE("LayerNorm") {
  for (const bool bias : {true, false})
    check_module(
        "LayerNorm", [=](Generator&) { return LayerNorm(5, real(1e-5), bias); },
        [](const LayerNorm& m, In x) { return m(x[0]); },
        {.names = bias ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"},
         .inputs = {random_array({2, 3, 5}, 1)},
         .oracle = [](const Weights& w, const std::vector<Value>& x) { return layer_norm_oracle(w, "", x[0].x); },
         .error =
             [](const LayerNorm& m) {
               m(Tensor(Array::zeros({2, 4})));
             },
         .error_text = "layer_norm: weight [5] does not fit the last axis of x [2, 4] (in LayerNorm)"});
}

TEST_CASE("RMSNorm") {
  const auto oracle = [](const Weights& w, const std::vector<Value>& x) {
    Row y;
    for (std::size_t row = 0; row < x[0].x.size(); row += 5) {
      double square = 0;
      for (std::size_t i = row; i < row + 5; ++i) square += x[0].x[i] * x[0].x[i] / 5;
      for (std::size_t i = 0; i < 5; ++i) y.push_back(x[0].x[row + i] / std::sqrt(square + 1e-5) * w.at("weight").x[i]);
    }
    return y;
  };
  check_module(
      "RMSNorm", [](Generator&) { return RMSNorm(5); }, [](const RMSNorm& m, In x) { return m(x[0]); },
      {.names = {"weight"},
       .inputs = {random_array({2, 3, 5}, 1)},
       .oracle = oracle,
       .error =
           [](const RMSNorm& m) {
             m(Tensor(Array::zeros({2, 4})));
           },
       .error_text = "rms_norm: weight [5] does not fit the last axis of x [2, 4] (in RMSNorm)"});
}

TEST_CASE("norms start as PyTorch's do: ones and zeros, and eps 1e-5") {
  const LayerNorm m(3), bare(3, real(1e-5), false);
  CHECK(m.weight.value().to_vector() == std::vector<real>(3, 1));
  CHECK(m.bias.value().to_vector() == std::vector<real>(3, 0));
  CHECK(m.eps == 1e-5);
  CHECK(!bare.bias.defined());
  CHECK(RMSNorm(3).weight.value().to_vector() == std::vector<real>(3, 1));
  CHECK(RMSNorm(3).eps == 1e-5);
}

TEST_CASE("LayerNorm of 1 2 3 4: the variance is 1.25, divided by 4 and not by 3") {
  const LayerNorm m(4);
  const double y1 = 0.5 / std::sqrt(1.25 + 1e-5), y2 = 3 * y1;  // 0.4472 and 1.3416
  CHECK(distance(m(Tensor(array({4}, {1, 2, 3, 4}))).to_vector(), {-y2, -y1, y1, y2}) < (f64 ? 1e-15 : 1e-6));
  CHECK(y2 == doctest::Approx(1.3416).epsilon(1e-4));
}

TEST_CASE("LayerNorm of a constant row, and of a row of one number, is exactly the bias") {
  const LayerNorm m(7), one(1);
  scramble(m);
  scramble(one);
  for (const double c : {0.0, 3.0, -1e4, 1.0 / 3}) {
    CHECK(m(Tensor(Array::full({7}, static_cast<real>(c)))).to_vector() == m.bias.value().to_vector());
    CHECK(one(Tensor(Array::full({1}, static_cast<real>(c)))).to_vector() == one.bias.value().to_vector());
  }
  const LayerNorm sharp(7, 0);
  for (const real v : sharp(Tensor(Array::full({7}, 3))).to_vector()) CHECK(std::isnan(v));  // 0 / 0, as documented
}

TEST_CASE("LayerNorm keeps a broken row to itself and forgets the scale of a row") {
  const LayerNorm m(6);
  Array x = random_array({3, 6}, 2);
  const std::vector<real> clean = m(Tensor(x)).to_vector();
  for (const real bad : {inf, -inf, nan}) {
    Array broken = x;
    broken.mutate()[6 + 2] = bad;
    const std::vector<real> y = m(Tensor(broken)).to_vector();
    for (std::size_t i = 0; i < 18; ++i) {
      if (i / 6 == 1)
        CHECK(std::isnan(y[i]));
      else
        CHECK(y[i] == clean[i]);
    }
  }
  const std::vector<real> large = m(Tensor(x * real(1024))).to_vector();
  for (std::size_t i = 0; i < 18; ++i) CHECK(std::abs(large[i] - clean[i]) < real(3e-5));  // eps counts for less
  const std::vector<real> shifted =
      m(Tensor(array({4 * 3 / 2}, {1e4, 1e4 + 1, 1e4, 1e4 + 1, 1e4, 1e4 + 1}))).to_vector();
  for (const real v : shifted) CHECK(std::abs(std::abs(v) - 1) < real(1e-4));  // E[x^2] - E[x]^2 would be far off
}

}  // namespace
}  // namespace mote::test::norms_test
