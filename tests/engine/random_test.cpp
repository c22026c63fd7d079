// What is here: Generator against PyTorch's numbers: values in every bit, the stream's position after them, and errors.
// What is not: the layers that draw (tests/nn), whose initial weights are made here by hand from the rule.
// Read next: torch_random_vectors.h.
#include "engine/random.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <span>
#include <type_traits>
#include <vector>

#include "engine/check.h"
#include "tests/engine/torch_random_vectors.h"

namespace {

using mote::Error;
using mote::Generator;
using mote::torch_vectors::Draw;
using mote::torch_vectors::seeds;
using mote::torch_vectors::SeedVectors;

/// How many doubles lie between a and b, which have the same sign.
std::int64_t ulps(double a, double b) {
  return std::abs(std::bit_cast<std::int64_t>(a) - std::bit_cast<std::int64_t>(b));
}

/// Fills an array as large as the vector with `fill(generator, span)`, from a fresh seed, and compares.
template <class T, std::size_t n, class Fill>
void check_draw(const SeedVectors& v, const Draw<T, n>& expected, Fill fill, int most_ulps = 0) {
  CAPTURE(v.seed);
  const Generator g(v.seed);
  std::array<T, n> drawn{};
  fill(g, std::span<T>(drawn));
  for (std::size_t i = 0; i < n; ++i) {
    CAPTURE(i);
    if constexpr (std::is_same_v<T, double>)
      CHECK(ulps(drawn[i], expected.values[i]) <= most_ulps);
    else
      CHECK(drawn[i] == expected.values[i]);
  }
  CHECK(g.next_u32() == expected.next);
}

std::vector<float> normals(const Generator& g, std::size_t n, double mean = 0, double std = 1) {
  std::vector<float> out(n);
  g.normal(std::span<float>(out), mean, std);
  return out;
}

/// nn.Linear(in, out): weight [out, in] and bias [out], uniform within 1/sqrt(in); the bound is a double.
void draw_linear(const Generator& g, std::span<float> weight, std::span<float> bias, std::size_t in) {
  const double bound = 1 / std::sqrt(static_cast<double>(in));
  g.uniform(weight, -bound, bound);
  g.uniform(bias, -bound, bound);
}

TEST_CASE("random: words") {
  for (const SeedVectors& v : seeds) {
    CAPTURE(v.seed);
    const Generator g(v.seed);
    std::vector<std::uint32_t> words(1300);
    for (std::uint32_t& w : words) w = g.next_u32();
    CHECK(std::equal(v.words.begin(), v.words.end(), words.begin()));
    CHECK(v.refills == std::array{words[623], words[624], words[1247], words[1248]});
    CHECK(Generator(v.seed).next_u64() == (std::uint64_t(words[0]) << 32 | words[1]));
  }
}

TEST_CASE("random: the default seed, and seeds that wrap") {
  CHECK(Generator().initial_seed() == 67280421310721u);
  CHECK(Generator().next_u32() == Generator(67280421310721).next_u32());
  CHECK(Generator(-12345).next_u32() == Generator(0xFFFFCFC7u).next_u32());
  CHECK(Generator(42 + (std::uint64_t(1) << 32)).next_u32() == 1608637542u);
  const Generator g(7);
  normals(g, 1);  // leaves a cached half, which manual_seed drops
  g.manual_seed(-1);
  CHECK(normals(g, 3) == std::vector{1.21976304f, -0.392979473f, 1.0230751f});  // torch.manual_seed(-1); torch.randn(3)
  CHECK(g.initial_seed() == 0xFFFFFFFFFFFFFFFF);
}

TEST_CASE("random: uniform") {
  for (const SeedVectors& v : seeds) {
    check_draw(v, v.rand_10, [](const Generator& g, std::span<float> out) { g.uniform(out); });
    check_draw(v, v.rand_double_5, [](const Generator& g, std::span<double> out) { g.uniform(out); });
    check_draw(v, v.rand_double_5, [](const Generator& g, std::span<double> out) {
      for (double& x : out) x = g.uniform_double();
    });
    check_draw(v, v.uniform_10, [](const Generator& g, std::span<float> out) { g.uniform(out, -0.3, 0.7); });
  }
  const Generator g(5);
  for (int i = 0; i < 10000; ++i) {  // on the 24-bit grid of [0, 1)
    const double steps = static_cast<double>(g.uniform_float()) * 16777216;
    REQUIRE((steps >= 0 && steps < 16777216 && steps == std::floor(steps)));
  }
}

TEST_CASE("random: normal") {
  const auto standard = [](const Generator& g, auto out) { g.normal(out); };
  for (const SeedVectors& v : seeds) {
    check_draw(v, v.randn_1, standard);
    check_draw(v, v.randn_15, standard);
    check_draw(v, v.randn_16, standard);
    check_draw(v, v.randn_17, standard);           // a tail of 1
    check_draw(v, v.randn_40, standard);           // a tail of 8
    check_draw(v, v.randn_double_5, standard, 2);  // 2 ulp: see random.h
    check_draw(v, v.randn_double_17, standard, 2);
    check_draw(v, v.normal_small_5, [](const Generator& g, std::span<float> out) { g.normal(out, 0, 0.02); });
    check_draw(v, v.normal_40, [](const Generator& g, std::span<float> out) { g.normal(out, 0, 0.02); });
    check_draw(v, v.normal_17, [](const Generator& g, std::span<float> out) { g.normal(out, 1.5, 0.3); });
  }
}

TEST_CASE("random: the unused half of a normal pair waits in the stream") {
  for (const SeedVectors& v : seeds)
    check_draw(v, v.chain_24, [](const Generator& g, std::span<float> out) {
      g.normal(out.subspan(0, 3));  // leaves one half
      g.uniform(out.subspan(3, 2));
      g.normal(out.subspan(5, 16));  // neither takes nor leaves it
      g.normal(out.subspan(21, 1));  // takes it
      g.normal(out.subspan(22, 2));
    });
  const Generator whole(9), parts(9);
  const std::vector<float> two = normals(whole, 2);
  CHECK(normals(parts, 1)[0] == two[0]);
  std::array<double, 1> wide{};  // float and double share the half, and it is kept unscaled
  parts.normal(std::span<double>(wide), 100, 10);
  CHECK((wide[0] - 100) / 10 == doctest::Approx(static_cast<double>(two[1])));
  CHECK(whole.get_state() == parts.get_state());
}

TEST_CASE("random: integers") {
  const auto in = [](std::int64_t low, std::int64_t high) {
    return [low, high](const Generator& g, std::span<std::int64_t> out) { g.randint(out, low, high); };
  };
  for (const SeedVectors& v : seeds) {
    check_draw(v, v.randint_20, in(0, 10));
    check_draw(v, v.randint_signed_10, in(-5, 5));
    check_draw(v, v.randint_8, in(0, 50257));
    check_draw(v, v.randint_2_33_4, in(0, std::int64_t(1) << 33));
    check_draw(v, v.randint_2_31_4, in(0, std::int64_t(1) << 31));
    check_draw(v, v.random_int64, [](const Generator& g, std::span<std::int64_t> out) { out[0] = g.random_int64(); });
  }
  std::array<std::int64_t, 1> x{};
  const Generator narrow(1), wide(1);  // 2^28 - 1 takes one word, 2^28 takes two
  in(0, (1 << 28) - 1)(narrow, x);
  in(0, 1 << 28)(wide, x);
  narrow.next_u32();
  CHECK(narrow.get_state() == wide.get_state());
  // torch.manual_seed(0); torch.randint(-2 ** 63, 2 ** 63 - 1, (1,))
  in(std::numeric_limits<std::int64_t>::min(), std::numeric_limits<std::int64_t>::max())(Generator(0), x);
  CHECK(x[0] == 900450186894289455);
}

TEST_CASE("random: randperm") {
  const auto perm = [](const Generator& g, std::span<std::int64_t> out) {
    std::ranges::copy(g.randperm(static_cast<std::int64_t>(out.size())), out.begin());
  };
  for (const SeedVectors& v : seeds) {
    check_draw(v, v.randperm_10, perm);
    check_draw(v, v.randperm_30, perm);
  }
  const Generator g(0);
  const mote::GeneratorState fresh = g.get_state();
  CHECK(g.randperm(0).empty());
  CHECK(g.randperm(1) == std::vector<std::int64_t>{0});
  CHECK(g.get_state() == fresh);                            // no words yet
  CHECK(g.randperm(2) == std::vector<std::int64_t>{0, 1});  // 2357136044 is even
  CHECK(g.next_u32() == 2546248239u);
}

TEST_CASE("random: bernoulli and dropout masks") {
  using Bits = std::span<std::uint8_t>;
  for (const SeedVectors& v : seeds) {
    check_draw(v, v.bernoulli_20, [](const Generator& g, Bits out) { g.bernoulli(out, 0.5); });
    check_draw(v, v.bernoulli_tensor_11, [](const Generator& g, Bits out) {
      for (std::size_t i = 0; i < out.size(); ++i) out[i] = g.uniform_float() < static_cast<float>(i) / 10;
    });
    check_draw(v, v.dropout_12, [](const Generator& g, std::span<float> out) {
      std::array<std::uint8_t, 12> keep{};
      g.bernoulli(keep, 1 - 0.1);
      for (std::size_t i = 0; i < 12; ++i)
        out[i] = static_cast<float>(i + 1) * (static_cast<float>(keep[i]) / static_cast<float>(1 - 0.1));
    });
    check_draw(v, v.dropout_36, [](const Generator& g, Bits out) {
      g.bernoulli(out, 0.5);
      for (std::uint8_t& x : out) x = x != 0 ? 2 : 0;
    });
  }
  std::array<std::uint8_t, 100> bits{};
  Generator(1).bernoulli(bits, 1);
  CHECK(std::ranges::count(bits, 1) == 100);
  Generator(1).bernoulli(bits, 0);
  CHECK(std::ranges::count(bits, 0) == 100);
}

TEST_CASE("random: initial weights of layers") {
  using Out = std::span<float>;
  const auto normal = [](const Generator& g, Out out) { g.normal(out); };
  for (const SeedVectors& v : seeds) {
    check_draw(v, v.linear_3_2, [](const Generator& g, Out p) { draw_linear(g, p.first(6), p.last(2), 3); });
    check_draw(v, v.linear_6_7, [](const Generator& g, Out p) { draw_linear(g, p.first(42), p.last(7), 6); });
    check_draw(v, v.embedding_4_3, normal);
    check_draw(v, v.embedding_7_5, normal);
    check_draw(v, v.sequential_53, [](const Generator& g, Out p) {
      draw_linear(g, p.first(20), p.subspan(20, 5), 4);
      std::ranges::fill(p.subspan(25, 5), 1.0f);  // layer norm: no draw
      draw_linear(g, p.subspan(35, 15), p.last(3), 5);
    });
    check_draw(v, v.xavier_12, [](const Generator& g, Out p) {
      const double bound = std::sqrt(3.0) * std::sqrt(2.0 / 7);
      g.uniform(p, -bound, bound);
    });
    check_draw(v, v.kaiming_20, [](const Generator& g, Out p) { g.normal(p, 0, std::sqrt(2.0) / std::sqrt(5.0)); });
    check_draw(v, v.attention_80, [](const Generator& g, Out p) {
      const double bound = std::sqrt(3.0) * std::sqrt(2.0 / 16);
      draw_linear(g, p.subspan(60, 16), p.last(4), 4);  // the output projection first, although it is listed last
      std::ranges::fill(p.last(4), 0.0f);               // its bias is drawn, then zeroed
      g.uniform(p.first(48), -bound, bound);
    });
  }
}

TEST_CASE("random: weights built, then drawn again") {
  using mote::torch_vectors::built_twice;
  const Generator g(1337);
  std::vector<float> w, bias;
  for (const auto& m : built_twice) {
    w.resize(m.rows * m.columns);
    bias.resize(m.bias ? m.rows : 0);
    if (m.linear)
      draw_linear(g, w, bias, m.columns);
    else
      g.normal(std::span<float>(w));
  }
  for (const auto& m : built_twice) {
    w = normals(g, m.rows * m.columns, 0, 0.02);
    CHECK(std::equal(m.first.begin(), m.first.end(), w.begin()));
    CHECK(std::equal(m.last.rbegin(), m.last.rend(), w.rbegin()));
  }
  std::array<std::int64_t, 6> next{};
  g.randint(next, 0, 11);
  CHECK(next == mote::torch_vectors::built_twice_next);
}

TEST_CASE("random: initialisers draw float32 in both builds") {
  std::vector<mote::real> u(40), n(40), few(3);
  const Generator g(42), same(42);
  g.uniform_float32(u, -0.3, 0.7);
  g.normal_float32(n, 1.5, 0.3);
  g.normal_float32(few);
  std::vector<float> u32(40);
  same.uniform(std::span<float>(u32), -0.3, 0.7);
  CHECK(std::ranges::equal(u, u32));
  CHECK(std::ranges::equal(n, normals(same, 40, 1.5, 0.3)));
  CHECK(std::ranges::equal(few, normals(same, 3)));
  CHECK(g.get_state() == same.get_state());
}

TEST_CASE("random: copies share a stream, states do not") {
  const Generator g(3);
  const Generator handle = g;
  normals(g, 601);
  normals(g, 3);
  const mote::GeneratorState saved = g.get_state();
  CHECK(handle.get_state() == saved);
  const std::vector<float> expected = normals(handle, 30);
  const float half = normals(handle, 1)[0];
  const Generator other(99);
  other.set_state(saved);
  CHECK(normals(other, 30) == expected);
  CHECK(normals(other, 1)[0] == half);
  CHECK(other.get_state() == g.get_state());
}

TEST_CASE("random: errors, and nothing drawn by them or by empty spans") {
  const Generator g(0);
  const mote::GeneratorState fresh = g.get_state();
  const double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
  std::vector<float> f(3);
  std::vector<double> d(3);
  std::vector<std::int64_t> i(3);
  std::vector<std::uint8_t> b(3);
  const std::span<float> out(f);
  CHECK_THROWS_WITH_AS(g.randint(i, 3, 3), "randint: low 3 is not below high 3", Error);
  CHECK_THROWS_WITH_AS(g.bernoulli(b, 1.5), "bernoulli: probability 1.5 is outside [0, 1]", Error);
  CHECK_THROWS_WITH_AS(g.bernoulli(b, nan), "bernoulli: probability nan is outside [0, 1]", Error);
  CHECK_THROWS_WITH_AS(g.normal(out, 0, -1), "normal: standard deviation -1 is not at or above 0", Error);
  CHECK_THROWS_AS(g.normal(std::span<double>(d), 0, nan), Error);
  CHECK_THROWS_WITH_AS(g.uniform(out, 1, 0), "uniform: low 1 is not at or below high 0", Error);
  CHECK_THROWS_WITH_AS(g.uniform(out, 0, inf), "uniform: bounds 0 and inf are not finite numbers here", Error);
  CHECK_THROWS_AS(g.uniform(out, 0, 1e39), Error);
  CHECK_THROWS_WITH_AS(g.uniform(out, -3e38, 3e38), "uniform: the width from -3e+38 to 3e+38 overflows", Error);
  CHECK_THROWS_WITH_AS(g.randperm(-1), "randperm: n = -1 is outside [0, 214748364)", Error);
  CHECK_THROWS_WITH_AS(g.set_state({}),
                       "set_state: all words are zero, so every draw would be; was this state ever filled?", Error);
  mote::GeneratorState broken = fresh;
  broken.used = 625;
  CHECK_THROWS_WITH_AS(g.set_state(broken), "set_state: position 625 is above 624", Error);
  g.uniform(std::span<float>());
  g.randint({}, 0, 2);
  g.bernoulli({}, 0.5);
  CHECK(g.get_state() == fresh);
}

}  // namespace
