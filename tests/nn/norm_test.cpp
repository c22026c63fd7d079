// LayerNorm, RMSNorm and Norm, which is either: check_module, where they start, and Norm equal to them in every bit.
#include "nn/norm.h"

#include "tests/nn/oracles.h"

namespace mote::test::norm_test {
namespace {

template <class Make>
void check_norm(const Make& make, bool rms, bool bias, double eps = 1e-5) {
  using M = std::invoke_result_t<const Make&, Generator&>;
  check_module(rms ? "RMSNorm" : "LayerNorm", make, [](const M& m, In x) { return m(x[0]); },
               {.names = bias && !rms ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"},
                .inputs = {random_array({2, 3, 5}, 1)},
                .oracle =
                    [=](const Weights& w, const std::vector<Value>& x) {
                      return norm_rows(x[0].x, 5, !rms, &w.at("weight"), optional_of(w, "bias"), eps);
                    },
                .error = [](const M& m) { m(Tensor(zeros_of(2, 4))); },
                .error_text = rms ? "rms_norm: weight [5] does not fit the last axis of x [2, 4] (in RMSNorm)"
                                  : "layer_norm: weight [5] does not fit the last axis of x [2, 4] (in LayerNorm)"});
}

TEST_CASE("LayerNorm, RMSNorm, and Norm of either kind") {
  check_norm([](Generator&) { return RMSNorm(5); }, true, false);
  for (const bool bias : {true, false}) {
    check_norm([=](Generator&) { return LayerNorm(5, real(1e-5), bias); }, false, bias);
    for (const bool rms : {true, false})
      for (const double eps : {1e-5, 0.25})
        check_norm([=](Generator&) { return Norm(rms ? NormKind::rms_norm : NormKind::layer_norm, 5, eps, bias); }, rms,
                   bias, eps);
  }
}

TEST_CASE("Norm starts and computes as LayerNorm and RMSNorm do, bit for bit") {
  const Norm layer(NormKind::layer_norm, 6, 0.25), rms(NormKind::rms_norm, 6, 0.25);
  LayerNorm plain_layer(6, 0.25);
  RMSNorm plain_rms(6, 0.25);
  CHECK(layer.weight.value().to_vector() == std::vector<real>(6, 1));
  CHECK(layer.bias.value().to_vector() == std::vector<real>(6, 0));
  CHECK(rms.weight.value().to_vector() == std::vector<real>(6, 1));
  CHECK(!rms.bias.defined());
  CHECK((Norm(NormKind::layer_norm, 6).eps == 1e-5 && Norm(NormKind::rms_norm, 6).eps == 1e-5));
  CHECK((LayerNorm(3).eps == 1e-5 && RMSNorm(3).eps == 1e-5 && !LayerNorm(3, 1e-5, false).bias.defined()));
  CHECK(plain_layer.weight.value().to_vector() == std::vector<real>(6, 1));
  CHECK(plain_rms.weight.value().to_vector() == std::vector<real>(6, 1));
  scramble(layer);
  copy_weights(layer, plain_layer);
  scramble(rms);
  copy_weights(rms, plain_rms);
  for (const double scale : {1e-6, 1.0, 1e4}) {
    const Array x = random_array({4, 6}, 2) * static_cast<real>(scale);
    CHECK(same_bits(layer(x).array(), plain_layer(x).array()));
    CHECK(same_bits(rms(x).array(), plain_rms(x).array()));
    CHECK(!same_bits(layer(x).array(), rms(x).array()));
  }
  CHECK((layer.type_name() == "LayerNorm" && rms.type_name() == "RMSNorm"));
}

}  // namespace
}  // namespace mote::test::norm_test
