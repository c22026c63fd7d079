// The kernels of activations, rows and norms against their formulas in long double, from every table.

#include <algorithm>

#include "engine/base/math.h"
#include "engine/kernels/kernels.h"
#include "tests/tools.h"

namespace mote::test::formulas_test {
namespace {

using kernels::Table;
using Wide = long double;
constexpr double unit = f64 ? 0x1p-53 : 0x1p-24;  // half the distance of 1 and its successor

std::vector<real> numbers(Index n, std::uint64_t seed, double size = 3) {
  return random_array({n}, seed, -size, size).to_vector();
}

/// The largest |got - want| / max(size, |want|) in units of the last place of 1.
struct Worst {
  double error = 0;
  void see(real got, Wide want, Wide size = 1) {
    error = std::max(error, double(std::fabs(Wide(got) - want) / std::max(size, std::fabs(want))) / unit);
  }
};

Wide gelu(Wide x) { return x * std::erfc(-x / std::sqrt(Wide(2))) / 2; }
Wide gelu_slope(Wide x) {
  return std::erfc(-x / std::sqrt(Wide(2))) / 2 + x * std::exp(-x * x / 2) / std::sqrt(2 * std::acos(Wide(-1)));
}
Wide twice_u(Wide x) { return 2 * std::sqrt(2 / std::acos(Wide(-1))) * (x + Wide(0.044715) * x * x * x); }
Wide sigmoid(Wide x) { return 1 / (1 + std::exp(-x)); }
Wide gelu_tanh(Wide x) { return x * sigmoid(twice_u(x)); }
Wide gelu_tanh_slope(Wide x) {
  const Wide s = sigmoid(twice_u(x)), slope = 2 * std::sqrt(2 / std::acos(Wide(-1))) * (1 + 3 * Wide(0.044715) * x * x);
  return s + x * s * sigmoid(-twice_u(x)) * slope;
}
Wide silu(Wide x) { return x * sigmoid(x); }
Wide silu_slope(Wide x) { return sigmoid(x) * (1 + x * sigmoid(-x)); }

struct Activation {
  std::string name;
  kernels::Unary* Table::*value;
  kernels::Binary* Table::*backward;
  Wide (*oracle)(Wide);
  Wide (*slope)(Wide);
};
const Activation activations[] = {
    {"gelu", &Table::gelu, &Table::gelu_backward, gelu, gelu_slope},
    {"gelu_tanh", &Table::gelu_tanh, &Table::gelu_tanh_backward, gelu_tanh, gelu_tanh_slope},
    {"silu", &Table::silu, &Table::silu_backward, silu, silu_slope}};

}  // namespace

TEST_CASE("formulas: activations and their slopes, densely") {
  std::vector<real> x;
  for (int i = -16000; i <= 16000; ++i) x.push_back(static_cast<real>(i * 0.00075));
  for (int i = 0; i < 60; ++i) x.push_back(static_cast<real>(std::ldexp(i % 2 ? -1.3 : 1.3, -i)));
  const Index n = static_cast<Index>(x.size());
  const std::vector<real> ones(x.size(), 1);
  for (const Table* t : kernels::available_tables())
    for (const Activation& a : activations) {
      std::vector<real> y(x.size()), d(x.size());
      (t->*a.value)(x.data(), 1, y.data(), n);
      (t->*a.backward)(ones.data(), 1, x.data(), 1, d.data(), n);
      Worst value, slope;
      for (std::size_t i = 0; i < x.size(); ++i) {
        value.see(y[i], a.oracle(Wide(x[i])), std::fabs(Wide(x[i])) / 2);  // x Phi(x), where Phi is 1/2 or more
        slope.see(d[i], a.slope(Wide(x[i])), Wide(0.5));
      }
      CAPTURE(t->name);
      CAPTURE(a.name);
      CHECK(value.error <= 6);
      CHECK(slope.error <= 10);
    }
}

TEST_CASE("formulas: gelu again gives the bits of gelu and its backward, also in place") {
  for (const Table* t : kernels::available_tables())
    for (const Index n : {0, 1, 15, 16, 17, 100}) {
      const std::vector<real> x = numbers(n, 1, 6), dy = numbers(n, 2);
      for (const bool exact : {true, false}) {
        std::vector<real> y(x), d(x), again(x), in_place(dy);
        (exact ? t->gelu : t->gelu_tanh)(x.data(), 1, y.data(), n);
        (exact ? t->gelu_backward : t->gelu_tanh_backward)(dy.data(), 1, x.data(), 1, d.data(), n);
        (exact ? t->gelu_again : t->gelu_tanh_again)(in_place.data(), x.data(), again.data(), in_place.data(), n);
        CHECK(again == y);
        CHECK(in_place == d);
      }
    }
}

TEST_CASE("formulas: rows of scores") {
  for (const Table* t : kernels::available_tables())
    for (const Index n : {1, 12, 16, 31, 65, 300, 4096}) {
      CAPTURE(t->name);
      CAPTURE(n);
      const std::vector<real> x = numbers(n, 3, 9), dy = numbers(n, 4);
      std::vector<real> p(x), logp(x), dx(x);
      real stats[2], log_stats[2];
      t->softmax(x.data(), nullptr, p.data(), stats, n);
      t->log_softmax(x.data(), logp.data(), n);
      t->log_sum_exp(x.data(), log_stats, n);
      const Wide top = *std::max_element(x.begin(), x.end());
      Wide sum = 0, all = 0, inner = 0;
      for (const real v : x) sum += std::exp(Wide(v) - top);
      for (const real v : x) all += Wide(v) - top - std::log(sum);
      Worst softmax, log_softmax, backward, loss;
      for (std::size_t i = 0; i < x.size(); ++i) {
        softmax.see(p[i], std::exp(Wide(x[i]) - top) / sum, std::exp(Wide(x[i]) - top) / sum);
        log_softmax.see(logp[i], Wide(x[i]) - top - std::log(sum), 1);
        inner += Wide(dy[i]) * Wide(p[i]);
        CHECK(x[i] - log_stats[0] - log_stats[1] == logp[i]);
      }
      CHECK(std::fabs(Wide(t->sum_log_softmax(x.data(), log_stats, n)) - all) <= 4e3 * unit * std::fabs(all));
      t->softmax_backward(dy.data(), p.data(), dx.data(), n);
      for (std::size_t i = 0; i < x.size(); ++i)
        backward.see(dx[i], Wide(p[i]) * (Wide(dy[i]) - inner), 3 * Wide(p[i]));
      const kernels::TargetRow target{n / 2, real(0.9), real(0.1) / static_cast<real>(n), real(0.25)};
      dx = x;
      t->cross_entropy_backward(dx.data(), log_stats, target, dx.data(), n);
      for (std::size_t i = 0; i < x.size(); ++i)
        loss.see(dx[i],
                 (std::exp(Wide(x[i]) - top) / sum - (Index(i) == target.index ? Wide(0.9) : 0) - Wide(0.1) / n) / 4);
      CHECK(softmax.error <= 16 + double(n) / 16);
      CHECK(log_softmax.error <= 16 + double(n) / 16);
      CHECK(backward.error <= 16 + double(n) / 8);
      CHECK(loss.error <= 16 + double(n) / 16);
    }
}

TEST_CASE("formulas: norms and their gradients") {
  for (const Table* t : kernels::available_tables())
    for (const Index n : {1, 12, 16, 33, 64, 300})
      for (const bool centred : {true, false}) {
        CAPTURE(t->name);
        CAPTURE(n);
        CAPTURE(centred);
        const Index rows = 21;
        const std::vector<real> x = numbers(rows * n, 5), dy = numbers(rows * n, 6), weight = numbers(n, 7),
                                bias = numbers(n, 8);
        std::vector<real> y(x), dx(x), stats(static_cast<std::size_t>(2 * rows)), dw(weight.size()), db(weight.size());
        (centred ? t->layer_norm : t->rms_norm)(x.data(), {weight.data(), bias.data(), real(0.01)}, y.data(),
                                                stats.data(), rows, n);
        (centred ? t->layer_norm_backward : t->rms_norm_backward)({dy.data(), x.data(), weight.data(), stats.data()},
                                                                  {dx.data(), dw.data(), db.data()}, rows, n);
        std::vector<Wide> want_dw(weight.size()), want_db(weight.size());
        Worst value, gradient, weights;
        for (Index r = 0; r < rows; ++r) {
          const auto at = [&](const std::vector<real>& a, Index i) {
            return Wide(a[static_cast<std::size_t>(r * n + i)]);
          };
          Wide mean = 0, square = 0, mean_g = 0, mean_gh = 0;
          for (Index i = 0; i < n && centred; ++i) mean += at(x, i) / n;
          for (Index i = 0; i < n; ++i) square += (at(x, i) - mean) * (at(x, i) - mean) / n;
          const Wide scale = 1 / std::sqrt(square + Wide(0.01));
          const auto h = [&](Index i) { return (at(x, i) - mean) * scale; };
          const auto w = [&](Index i) { return Wide(weight[static_cast<std::size_t>(i)]); };
          for (Index i = 0; i < n; ++i) {
            if (centred) mean_g += at(dy, i) * w(i) / n;
            mean_gh += at(dy, i) * w(i) * h(i) / n;
            want_dw[static_cast<std::size_t>(i)] += at(dy, i) * h(i);
            want_db[static_cast<std::size_t>(i)] += at(dy, i);
          }
          for (Index i = 0; i < n; ++i) {
            value.see(y[static_cast<std::size_t>(r * n + i)], h(i) * w(i) + Wide(bias[static_cast<std::size_t>(i)]),
                      10);
            gradient.see(dx[static_cast<std::size_t>(r * n + i)], scale * (at(dy, i) * w(i) - mean_g - h(i) * mean_gh),
                         10 * scale);
          }
        }
        for (std::size_t i = 0; i < weight.size(); ++i)
          weights.see(dw[i], want_dw[i], 100), weights.see(db[i], want_db[i], 100);
        CHECK(value.error <= 100);
        CHECK(gradient.error <= 100);
        CHECK(weights.error <= 100);
      }
}

}  // namespace mote::test::formulas_test
