// fourier_basis, frequency_shares and gini against what they are known to give.
#include "models/fourier.h"

#include "engine/ops/arithmetic.h"
#include "engine/ops/create.h"
#include "engine/ops/unary.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::fourier_test {
namespace {

constexpr double tight = f64 ? 1e-14 : 1e-6;

/// Row j, column by column, of what `at(j)` gives: [p, columns].
template <class At>
Tensor table(Index p, Index columns, const At& at) {
  Array x = Array::empty({p, columns});
  for (Index i = 0; i < x.numel(); ++i) x.mutate()[i] = static_cast<real>(at(i / columns, i % columns));
  return x;
}
double wave(Index k, Index j, Index p, double phase = 0) {
  return std::cos(2 * std::numbers::pi * static_cast<double>(k * j) / static_cast<double>(p) + phase);
}

TEST_CASE("fourier_basis: orthonormal rows, in the order constant, cos 1, sin 1, cos 2, ...") {
  for (const Index p : {3, 5, 31, 113}) {
    const Tensor basis = fourier_basis(p);
    const Tensor products = matmul(basis, transpose(basis, 0, 1));
    CHECK(max(abs(products - eye(p))).item() < 10 * tight);
    const double size = std::sqrt(2 / static_cast<double>(p));
    for (Index j = 0; j < p; ++j) {
      CHECK(basis.array().at({0, j}) == doctest::Approx(1 / std::sqrt(static_cast<double>(p))).epsilon(tight));
      CHECK(std::abs(static_cast<double>(basis.array().at({1, j})) - size * wave(1, j, p)) < 10 * tight);
      CHECK(std::abs(static_cast<double>(basis.array().at({2, j})) - size * wave(1, j, p, -std::numbers::pi / 2)) <
            10 * tight);
      CHECK(std::abs(static_cast<double>(basis.array().at({p - 2, j})) - size * wave(p / 2, j, p)) < 10 * tight);
    }
  }
  REFUSES(fourier_basis(1));
  REFUSES(fourier_basis(10));
}

TEST_CASE("frequency_shares: a wave has all of its frequency, whatever its phase and height") {
  for (const Index k : {1, 4, 15}) {
    const Tensor one = frequency_shares(table(31, 2, [k](Index j, Index column) {
      return 100 + (3 + static_cast<double>(column)) * wave(k, j, 31, 0.7 + static_cast<double>(column));
    }));
    REQUIRE(one.shape() == Shape{15});
    for (Index f = 1; f <= 15; ++f)
      CHECK(std::abs(static_cast<double>(one.array().at({f - 1})) - (f == k)) < (f64 ? 1e-12 : 1e-5));
  }
}

TEST_CASE("frequency_shares: of two waves, by the squares of their heights; of columns, by their variances") {
  const auto share = [](const Tensor& shares, Index k) { return static_cast<double>(shares.array().at({k - 1})); };
  const Tensor both =
      frequency_shares(table(113, 1, [](Index j, Index) { return 2 * wave(14, j, 113) + wave(41, j, 113, 1) - 5; }));
  CHECK(share(both, 14) == doctest::Approx(0.8));
  CHECK(share(both, 41) == doctest::Approx(0.2));
  const Tensor beside = frequency_shares(
      table(7, 2, [](Index j, Index column) { return column ? 3 * wave(3, j, 7, 2) : wave(2, j, 7); }));
  CHECK(share(beside, 2) == doctest::Approx(0.1));
  CHECK(share(beside, 3) == doctest::Approx(0.9));
  // One place alone is a sum of all waves, equally high.
  const Tensor spike = frequency_shares(table(11, 1, [](Index j, Index) { return j == 4; }));
  for (Index k = 1; k <= 5; ++k) CHECK(share(spike, k) == doctest::Approx(0.2));
  CHECK(sum(frequency_shares(random_array({31, 8}, 1))).item() == doctest::Approx(1));
}

TEST_CASE("frequency_shares: wrong calls") {
  REFUSES(frequency_shares(ones({5})));
  REFUSES(frequency_shares(full({5, 3}, 0.1)));
  REFUSES(frequency_shares(random_array({4, 3}, 1)));
}

TEST_CASE("gini: 0 of equal numbers, 1 - 1/n where one has all, and what pairs say") {
  CHECK(gini(full({3, 4}, 0.3)) == doctest::Approx(0).epsilon(1e-6));
  for (const Index n : {1, 2, 10}) {
    Array one = Array::zeros({n});
    one.mutate()[n / 2] = 7;
    CHECK(gini(one) == doctest::Approx(1 - 1 / static_cast<double>(n)));
  }
  CHECK(gini(tensor({3, 1})) == doctest::Approx(0.25));
  const std::vector<real> x = random_array({20}, 3, 0, 5).to_vector();
  double apart = 0, total = 0;
  for (const real a : x) {
    total += static_cast<double>(a);
    for (const real b : x) apart += std::abs(static_cast<double>(a - b));
  }
  CHECK(gini(tensor(x)) == doctest::Approx(apart / (2 * 20 * total)).epsilon(1e-5));
  CHECK(gini(tensor(x) * 8) == doctest::Approx(gini(tensor(x))));
  REFUSES(gini(tensor({1, -1})));
  REFUSES(gini(tensor({1, NAN})));
  REFUSES(gini(zeros({2})));
}

}  // namespace
}  // namespace mote::test::fourier_test
