// The kernels of activations and rows against their formulas in long double, from every table.

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
      INFO(t->name << ": " << a.name);
      CHECK(value.error <= 6);
      CHECK(slope.error <= 10);
    }
}

TEST_CASE("formulas: rows of scores") {
  for (const Table* t : kernels::available_tables())
    for (const Index n : {1, 12, 16, 31, 65, 300, 4096}) {
      INFO(t->name << ", n = " << n);
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

}  // namespace mote::test::formulas_test
