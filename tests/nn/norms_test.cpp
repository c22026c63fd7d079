// LayerNorm and RMSNorm: check_module, PyTorch's start.
#include "nn/norm.h"
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
         .oracle =
             [](const Weights& w, const std::vector<Value>& x) {
               return norm_rows(x[0].x, 5, true, &w.at("weight"), optional_of(w, "bias"));
             },
         .error = [](const LayerNorm& m) { m(Tensor(zeros_of(2, 4))); },
         .error_text = "layer_norm: weight [5] does not fit the last axis of x [2, 4] (in LayerNorm)"});
}

TEST_CASE("RMSNorm") {
  const auto oracle = [](const Weights& w, const std::vector<Value>& x) {
    return norm_rows(x[0].x, 5, false, &w.at("weight"));
  };
  check_module(
      "RMSNorm", [](Generator&) { return RMSNorm(5); }, [](const RMSNorm& m, In x) { return m(x[0]); },
      {.names = {"weight"},
       .inputs = {random_array({2, 3, 5}, 1)},
       .oracle = oracle,
       .error = [](const RMSNorm& m) { m(Tensor(zeros_of(2, 4))); },
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

}  // namespace
}  // namespace mote::test::norms_test
