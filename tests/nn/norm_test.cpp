// LayerNorm and RMSNorm: check_module, where they start. ChosenNorm: which of them it holds.
#include "nn/norm.h"

#include "engine/ops/view.h"
#include "nn/batch_norm.h"
#include "tests/nn/oracles.h"
#include "tests/sentences.h"

namespace mote::test::norm_test {
namespace {

template <class Make>
void check_norm(const Make& make, bool rms, bool bias, double eps = 1e-5) {
  using M = std::invoke_result_t<const Make&, Generator&>;
  check_module(
      rms ? "RMSNorm" : "LayerNorm", make, [](const M& m, In x) { return m(x[0]); },
      {.names = bias && !rms ? std::vector<std::string>{"weight", "bias"} : std::vector<std::string>{"weight"},
       .inputs = {random_array({2, 3, 5}, 1)},
       .oracle =
           [=](const Weights& w, const std::vector<Value>& x) {
             return norm_rows(x[0].x, 5, !rms, &w.at("weight"), optional_of(w, "bias"), eps);
           },
       .error = [](const M& m) { m(Tensor(zeros_of(2, 4))); },
       .error_text =
           rms ? "rms_norm: weight [5] does not fit x [2, 4]: for x [..., C] it must be [C] (in RMSNorm)"
               : "layer_norm: weight [5] does not fit x [2, 4]: for x [..., C] it must be [C] (in LayerNorm)"});
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

TEST_CASE("BatchNorm1d: PyTorch's values in training and in evaluation") {
  // torch.manual_seed(3); x = torch.randn(4, 3); bn = nn.BatchNorm1d(3); bn(x), its running statistics, bn.eval()(x)[0]
  const Tensor x = array({4, 3}, {0.803276062, 0.174833387, 0.0889780968, -0.613718033, 0.0461824499, -1.36825919,
                                  0.337495089, 1.01111591, -1.43517935, 0.977431774, 0.522049963, 1.23791671});
  const std::vector<double> normed{0.691720486,   -0.705845296, 0.412764639,  -1.60291314, -1.05018926, -0.900218606,
                                   -0.0625498965, 1.5325284,    -0.960514247, 0.973742545, 0.223506242, 1.44796813};
  BatchNorm1d norm(3);
  CHECK(distance(norm(x).to_vector(), normed) < 1e-5);
  CHECK(distance(norm.running_mean.to_vector(), {0.0376121216, 0.0438545421, -0.0369135924}) < 1e-6);
  CHECK(distance(norm.running_var.to_vector(), {0.950843632, 0.918610096, 1.06423938}) < 1e-6);
  norm.eval();
  CHECK(distance(norm(x).array().select(0, 0).to_vector(), {0.785201907, 0.136657402, 0.122032456}) < 1e-5);
  CHECK(distance(norm.running_mean.to_vector(), {0.0376121216, 0.0438545421, -0.0369135924}) < 1e-6);

  // [N, C, L] normalises each channel over N and L.
  const BatchNorm1d lengths(3);
  const Array y = lengths(transpose(reshape(x, {2, 2, 3}), 1, 2)).array().transpose(1, 2);
  CHECK(distance(y.reshape({4, 3}).to_vector(), normed) < 1e-5);

  const BatchNorm1d fresh(3);
  CHECK(gradcheck([&](In t) { return fresh(t[0]); }, {random_array({5, 3}, 1)}).ok);
  CHECK(named_buffers(fresh).size() == 2);
  CHECK(error_of([&] { fresh(zeros_of(2, 4)); }) ==
        "BatchNorm1d: x [2, 4] must be [N, C] or [N, C, L] with C = 3 (in BatchNorm1d)");
  CHECK(error_of([&] { fresh(zeros_of(1, 3)); }) ==
        "BatchNorm1d: x [1, 3] has 1 value per channel: training needs at least 2 (in BatchNorm1d)");
}

TEST_CASE("norms refuse an eps or a momentum that makes no norm, when they are made") {
  const double nan = std::nan("");
  REFUSES(LayerNorm(4, -1.0));
  REFUSES(LayerNorm(4, nan));
  REFUSES(RMSNorm(4, std::numeric_limits<double>::infinity()));
  REFUSES(BatchNorm1d(4, nan));
  REFUSES(BatchNorm1d(4, 1e-5, nan));
  REFUSES(BatchNorm1d(4, 1e-5, 1.5));
}

}  // namespace
}  // namespace mote::test::norm_test
