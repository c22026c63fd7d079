// LayerNorm and RMSNorm: check_module, where they start. ChosenNorm: which of them it holds.
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

TEST_CASE("LayerNorm and RMSNorm") {
  check_norm([](Generator&) { return RMSNorm(5); }, true, false);
  check_norm([](Generator&) { return RMSNorm(5, 0.25); }, true, false, 0.25);
  for (const bool bias : {true, false}) {
    check_norm([=](Generator&) { return LayerNorm(5, 1e-5, bias); }, false, bias);
    check_norm([=](Generator&) { return LayerNorm(5, 0.25, bias); }, false, bias, 0.25);
  }
}

TEST_CASE("where norms start") {
  const LayerNorm layer(6, 0.25);
  const RMSNorm rms(6, 0.25);
  CHECK(layer.weight.value().to_vector() == std::vector<real>(6, 1));
  CHECK(layer.bias.value().to_vector() == std::vector<real>(6, 0));
  CHECK(rms.weight.value().to_vector() == std::vector<real>(6, 1));
  CHECK((LayerNorm(3).eps == 1e-5 && RMSNorm(3).eps == 1e-5 && !LayerNorm(3, 1e-5, false).bias.defined()));
}

TEST_CASE("ChosenNorm holds the norm that its kind names, and is called like it") {
  const ChosenNorm layer(NormKind::layer_norm, 6, 0.25, false);
  const ChosenNorm rms(NormKind::rms_norm, 6, 0.25);
  const LayerNorm& held = std::get<LayerNorm>(layer.layer);
  const RMSNorm& held_rms = std::get<RMSNorm>(rms.layer);
  CHECK((held.eps == 0.25 && !held.bias.defined() && held_rms.eps == 0.25));

  const Array x = random_array({4, 6}, 2);
  CHECK(same_bits(layer(x).array(), layer_norm(x, held.weight, {}, 0.25).array()));
  CHECK(same_bits(rms(x).array(), rms_norm(x, held_rms.weight, 0.25).array()));
}

}  // namespace
}  // namespace mote::test::norm_test
