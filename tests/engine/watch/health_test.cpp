// Health: the numbers of a loop by hand, for layers called once, twice, and inside one another; no bit changes.
#include "engine/watch/health.h"

#include <cmath>

#include "engine/engine.h"
#include "nn/nn.h"
#include "tests/tools.h"

namespace mote::test::health_test {
namespace {

/// Mean, deviation and share of zeros, in two passes.
std::vector<double> by_hand(const std::vector<Array>& arrays) {
  std::vector<double> all;
  for (const Array& a : arrays)
    for (const real x : a.to_vector()) all.push_back(static_cast<double>(x));
  const double n = static_cast<double>(all.size());
  double mean = 0, square = 0, zeros = 0;
  for (const double x : all) {
    mean += x / n;
    zeros += x == 0 ? 1 / n : 0;
  }
  for (const double x : all) square += (x - mean) * (x - mean) / n;
  return {mean, std::sqrt(square), zeros};
}

void check_close(const std::vector<double>& got, const std::vector<double>& expected) {
  for (std::size_t i = 0; i < expected.size(); ++i)
    CHECK(std::abs(got[i] - expected[i]) <= 1e-9 * std::max(1.0, std::abs(expected[i])));
}

struct Cut : Layer<Cut> {
  Linear fc{4, 4, Generator(1)};
  Tensor forward(const Tensor& x) const { return relu(fc(x)); }
  void visit(Visitor& v) override { v("fc", fc); }
};
struct Net : Layer<Net> {
  Cut cut;
  Tensor forward(const Tensor& x) const { return cut(cut(x)) * x; }
  void visit(Visitor& v) override { v("cut", cut); }
};

TEST_CASE("health: results and gradients of every layer are those of a loop by hand") {
  const Net net;
  const Tensor x = random_array({5, 4}, 3);
  const auto measured = [&] {
    Health health;
    sum(net(x) * net(x)).backward();
    return health.layers();
  }();
  const Array slope = net.cut.fc.weight.grad();
  zero_grad(net);
  std::vector<Array> cuts, slopes, linears;
  std::vector<Tensor> kept;
  Tensor loss;
  for (int call = 0; call < 2; ++call) {
    Tensor y = x;
    for (int i = 0; i < 2; ++i) {
      kept.push_back(net.cut.fc(y));
      kept.push_back(relu(kept.back()));
      y = kept.back();
    }
    kept.push_back(y * x);
    loss = call == 0 ? kept.back() : sum(loss * kept.back());
  }
  for (Tensor& t : kept) t.retain_grad();
  loss.backward();
  CHECK(same_bits(net.cut.fc.weight.grad(), slope));  // measuring changed nothing
  const auto check_layer = [&](const LayerHealth& h, const char* name, const std::vector<std::size_t>& which) {
    std::vector<Array> results, gradients;
    for (const std::size_t i : which) {
      results.push_back(kept[i].array());
      gradients.push_back(kept[i].grad());
    }
    CHECK(h.layer == name);
    check_close({h.result.mean, h.result.deviation, h.result.zeros}, by_hand(results));
    check_close({h.gradient.mean, h.gradient.deviation, h.gradient.zeros}, by_hand(gradients));
  };
  REQUIRE(measured.size() == 3);
  check_layer(measured[0], "cut.fc", {0, 2, 5, 7});
  check_layer(measured[1], "cut", {1, 3, 6, 8});
  check_layer(measured[2], "Net", {4, 9});
  CHECK((measured[1].result.zeros > 0.1 && measured[1].result.zeros < 0.9));
}

TEST_CASE("health: where no gradient arrives it is NaN, and update_ratio() is a quotient of deviations") {
  Health health;
  const NoGrad values;
  Net()(random_array({5, 4}, 3));
  const std::vector<LayerHealth> layers = health.layers();
  REQUIRE(layers.size() == 3);
  CHECK((std::isnan(layers[0].gradient.mean) && std::isnan(layers[0].gradient.deviation)));
  const Array before = random_array({6, 7}, 1), change = random_array({6, 7}, 2, -0.01, 0.02);
  const Array after = before + change;
  check_close({update_ratio(before, after)}, {by_hand({after - before})[1] / by_hand({before})[1]});
  CHECK(update_ratio(before, before) == 0);
}

}  // namespace
}  // namespace mote::test::health_test
