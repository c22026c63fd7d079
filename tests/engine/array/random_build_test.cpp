// What the setting TorchBuild changes: how many words a draw takes, in which PyTorch.

#include <algorithm>
#include <array>
#include <functional>
#include <span>

#include "engine/array/random.h"
#include "tests/engine/array/draws.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::random_build_test {
namespace {

/// How many words a draw takes: where its stream continues is looked up in a stream of words alone.
int words_of(const TorchBuild& build, const std::function<void(const Generator&)>& draw) {
  const Generator g(77), words(77);
  g.set_build(build);
  draw(g);
  const std::array next{g.next_u32(), g.next_u32()};
  std::array seen{words.next_u32(), words.next_u32()};
  for (int count = 0; count < 3000; ++count) {
    if (seen == next) return count;
    seen = {seen[1], words.next_u32()};
  }
  return -1;
}
constexpr TorchBuild current{}, mkl{.mkl = true}, mkl_200{.mkl = true, .version = 200},
    mkl_206{.mkl = true, .version = 206}, mkl_113{.mkl = true, .version = 113}, scalar_206{.version = 206};

TEST_CASE("random: how many words a draw takes, where no vector says it") {
  const auto draw_ints = [](std::int64_t range) { return [=](const Generator& g) { ints(g, 3, 0, range); }; };
  CHECK(words_of(mkl, draw_ints(std::int64_t(1) << 28)) == 6);
  CHECK(words_of(scalar_206, draw_ints((std::int64_t(1) << 32) - 1)) == 3);
  const auto flip = [](const Generator& g) { bits(g, 9, 0.5); };
  CHECK(words_of(scalar_206, flip) == 18);
  CHECK(words_of(mkl_113, flip) == 1);
  const auto floats = [](const Generator& g) { exponentials<float>(g, 9); };
  const auto doubles = [](const Generator& g) { exponentials<double>(g, 9); };
  for (const TorchBuild& build : {current, scalar_206, mkl, mkl_113}) {
    CHECK(words_of(build, floats) == 18);
    CHECK(words_of(build, doubles) == 18);
  }
  for (const TorchBuild& build : {mkl_200, mkl_206}) {
    CHECK(words_of(build, floats) == 1);
    CHECK(words_of(build, doubles) == 2);
  }
}

TEST_CASE("random: a build is a setting of the stream, shared by handles and kept by manual_seed") {
  const Generator g(3), handle = g;
  CHECK(g.build() == TorchBuild{.mkl = false, .version = 207});
  handle.set_build(mkl_206);
  CHECK(g.build() == mkl_206);
  g.manual_seed(123);
  CHECK(g.build() == mkl_206);
  const Generator other(5);
  other.set_state(g.get_state());
  CHECK(other.build() == mkl_206);
  CHECK(bits(other, 20, 0.5) == bits(g, 20, 0.5));
  CHECK(Generator(123).get_state() != g.get_state());
  for (const int version : {99, 1000}) CHECK(error_of([&] { g.set_build({.version = version}); }) != "(no error)");
  REFUSES(g.set_build({.version = 27}));
  CHECK(g.build() == mkl_206);
}

TEST_CASE("random: a probability of 0 never, of 1 always, in every build") {
  for (const TorchBuild& build : {current, mkl}) {
    const Generator g(1);
    g.set_build(build);
    CHECK(std::ranges::count(bits(g, 1000, 1), 1) == 1000);
    CHECK(std::ranges::count(bits(g, 1000, 0), 0) == 1000);
  }
}

TEST_CASE("random: waiting times in double, of which there are no vectors for MKL, last as long as they should") {
  constexpr std::size_t n = 40000;  // five standard errors of the mean are 0.025 / lambda
  const Generator g(11);
  g.set_build(mkl_206);
  for (const double lambda : {0.25, 3.0}) {
    const std::vector<double> times = exponentials<double>(g, n, lambda);
    CHECK(std::accumulate(times.begin(), times.end(), 0.0) / n * lambda == doctest::Approx(1).epsilon(0.025));
    // Half of them are over after log 2, and a tenth lasts beyond log 10.
    const auto beyond = [&](double t) {
      return static_cast<double>(std::ranges::count_if(times, [&](double x) { return x * lambda > t; })) / n;
    };
    CHECK(beyond(std::log(2.0)) == doctest::Approx(0.5).epsilon(0.025));
    CHECK(beyond(std::log(10.0)) == doctest::Approx(0.1).epsilon(0.075));
    CHECK(*std::ranges::min_element(times) >= 0);
  }
}

}  // namespace
}  // namespace mote::test::random_build_test
