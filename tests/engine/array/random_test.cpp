// Generator's own manners: seeds, handles, states, what it refuses.
#include "engine/array/random.h"

#include <algorithm>
#include <array>
#include <span>

#include "tests/engine/array/draws.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::random_test {
namespace {

TEST_CASE("random: the default seed, and seeds that wrap") {
  CHECK(Generator().get_state().seed == 67280421310721u);
  CHECK(Generator().get_state() == Generator(Generator::default_seed).get_state());
  CHECK(Generator(-12345).next_u32() == Generator(0xFFFFCFC7u).next_u32());
  CHECK(Generator(42 + (std::uint64_t(1) << 32)).next_u32() == Generator(42).next_u32());
  const Generator g(7);
  normals(g, 1);  // leaves a cached half, which manual_seed drops
  g.manual_seed(-1);
  CHECK(normals(g, 3) == normals(Generator(4294967295), 3));
  CHECK(g.get_state().seed == 0xFFFFFFFFFFFFFFFF);
}

TEST_CASE("random: the bounds of uniform are narrowed before their difference is taken") {
  std::vector<float> out(40);
  const Generator g(5), same(5);
  g.uniform(std::span<float>(out), 0.7, 0.9);  // 0.9f - 0.7f is not the float nearest to 0.2
  for (const float x : out) CHECK(x == std::fma(same.uniform_float(), 0.9f - 0.7f, 0.7f));
}

TEST_CASE("random: double normals are within 2.6 units in the last place of the exact value") {
  const auto off = [](double got, long double want) {
    const double size = std::abs(static_cast<double>(want));
    return static_cast<double>(std::abs(static_cast<long double>(got) - want)) /
           (std::nextafter(size, std::numeric_limits<double>::infinity()) - size);
  };
  constexpr double two_pi = 6.283185307179586;
  std::vector<double> z(32000), u(32000), pairs(32000);
  Generator(5).normal(std::span<double>(z));
  Generator(5).uniform(std::span<double>(u));
  strided_normals(Generator(5), std::span<double>(pairs));
  double worst = 0;
  for (std::size_t i = 0; i < u.size(); i += 16)
    for (std::size_t k = i; k < i + 8; ++k) {  // Box-Muller in a block: units k and k + 8
      const long double r = std::sqrt(-2 * std::log(static_cast<long double>(1 - u[k]))), t = two_pi * u[k + 8];
      worst = std::max({worst, off(z[k], r * std::cos(t)), off(z[k + 8], r * std::sin(t))});
    }
  for (std::size_t i = 0; i < u.size(); i += 2) {
    const long double r = std::sqrt(-2 * std::log1p(-static_cast<long double>(u[i + 1]))), t = two_pi * u[i];
    worst = std::max({worst, off(pairs[i], r * std::cos(t)), off(pairs[i + 1], r * std::sin(t))});
  }
  CHECK(worst > 1);
  CHECK(worst <= 2.6);
}

TEST_CASE("random: bernoulli_bits, as its definition says it: units below p, from any place in a block") {
  const auto bit = [](const std::vector<std::uint8_t>& bits, std::size_t i) { return bits[i / 8] >> i % 8 & 1; };
  on_all_hardware({1, 3}, [&] {
    for (const std::size_t before : {0u, 1u, 311u, 623u, 624u, 1000u})
      for (const std::size_t n : {1u, 7u, 8u, 100u, 312u, 313u, 40000u, 70001u}) {
        const Generator fast(3), slow(3);
        for (std::size_t i = 0; i < before; ++i) {
          fast.next_u32();
          slow.next_u32();
        }
        std::vector<std::uint8_t> bits((n + 7) / 8, 0xFF);
        fast.bernoulli_bits(bits, n, 0.3);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < n; ++i) wrong += bit(bits, i) != (slow.uniform_double() < 0.3);
        CHECK(wrong == 0);
        if (n % 8 != 0) CHECK((bits.back() >> n % 8) == 0);
        CHECK(fast.get_state() == slow.get_state());
      }
  });
  std::vector<double> units(64);
  Generator(5).uniform(std::span<double>(units));
  for (std::size_t i = 0; i < units.size(); ++i) {  // p is a unit itself, or the next number
    std::vector<std::uint8_t> at(8), above(8);
    Generator(5).bernoulli_bits(at, 64, units[i]);
    Generator(5).bernoulli_bits(above, 64, std::nextafter(units[i], 1));
    CHECK(bit(at, i) == 0);
    CHECK(bit(above, i) == 1);
  }
  on_all_hardware({1, 3}, [&] {
    for (const double p : {0.0, 1e-9, 0.3, 0.5, 1.0}) {  // MKL's own generator
      const Generator g(7), word(7);
      g.set_build({.mkl = true});
      std::vector<std::uint8_t> bits(1251);
      g.bernoulli_bits(bits, 10003, p);
      std::uint64_t x = std::max<std::uint64_t>(word.next_u32() % 0x7FFFFFFF, 1);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < 10003; ++i, x = x * 1132489760 % 0x7FFFFFFF)
        wrong += bit(bits, i) != (static_cast<double>(x) / 0x7FFFFFFF < p);
      CHECK(wrong == 0);
      CHECK((bits.back() >> 3) == 0);
    }
  });
}

TEST_CASE("random: initialisers draw float32 in both builds") {
  std::vector<real> u(40), n(40), few(3);
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

TEST_CASE("random: whole numbers next to the limits, no numbers in order") {
  using Limits = std::numeric_limits<std::int64_t>;
  const Generator g(8);
  CHECK(ints(g, 5, Limits::max() - 1, Limits::max()) == std::vector(5, Limits::max() - 1));
  CHECK(ints(g, 5, Limits::min(), Limits::min() + 1) == std::vector(5, Limits::min()));
  CHECK(g.randperm(0).empty());
}

TEST_CASE("random: copies share a stream, states do not") {
  const Generator g(3);
  const Generator handle = g;
  normals(g, 601);  // into the second block of words
  normals(g, 3);    // with half a pair left over
  const GeneratorState saved = g.get_state();
  CHECK(saved.has_normal);
  CHECK(handle.get_state() == saved);
  const std::vector<float> expected = normals(handle, 30);
  const float half = normals(handle, 1)[0];
  const Generator other(99);
  other.set_state(saved);
  CHECK(normals(other, 30) == expected);
  CHECK(normals(other, 1)[0] == half);
  CHECK(other.get_state() == g.get_state());
  CHECK(other.get_state().seed == 3);
  g.next_u32();
  CHECK(other.get_state() != g.get_state());
}

TEST_CASE("random: a coin shows heads where the number drawn is below its probability, not at it") {
  const Generator numbers(7), coins(7);
  CHECK(bits(coins, 1, numbers.uniform_double())[0] == 0);
  CHECK(bits(coins, 1, std::nextafter(numbers.uniform_double(), 1.0))[0] == 1);
}

TEST_CASE("random: errors, and nothing drawn by them or by empty spans") {
  const Generator g(0);
  for (const TorchBuild& build : {TorchBuild{}, TorchBuild{.mkl = true, .version = 206}}) {
    g.set_build(build);
    const GeneratorState fresh = g.get_state();
    const double not_a_number = std::numeric_limits<double>::quiet_NaN();
    const double infinite = std::numeric_limits<double>::infinity();
    std::vector<float> f(3);
    std::vector<double> d(3);
    std::vector<std::uint8_t> b(3);
    const std::span<float> out(f);
    REFUSES(ints(g, 3, 3, 3));
    REFUSES(bits(g, 3, 1.5));
    REFUSES(bits(g, 3, -0.5));
    REFUSES(bits(g, 3, not_a_number));
    REFUSES(bits(g, 0, 2));
    REFUSES(g.bernoulli_bits(b, 25, 0.5));
    REFUSES(g.exponential(out, 0));
    REFUSES(g.exponential(std::span(d), -2));
    REFUSES(g.exponential(out, not_a_number));
    REFUSES(g.normal(out, 0, -1));
    std::vector<float> block(16);  // from 16 on the path is another
    REFUSES(g.normal(std::span(block), 0, -1));
    std::vector<double> wide(16);
    REFUSES(g.normal(std::span(wide), 0, -1));
    CHECK_THROWS_AS(g.normal(std::span<double>(d), 0, not_a_number), Error);
    REFUSES(g.uniform(out, 1, 0));
    REFUSES(g.uniform(out, 0, infinite));
    CHECK_THROWS_AS(g.uniform(out, 0, 1e39), Error);
    REFUSES(g.uniform(out, -3e38, 3e38));
    REFUSES(g.randperm(-1));
    REFUSES(g.randperm(214748364));
    CHECK(error_of([&] { g.set_build({.mkl = !build.mkl, .version = 99}); }) != "(no error)");
    REFUSES(g.set_state({}));
    GeneratorState broken = fresh;
    broken.used = 625;
    REFUSES(g.set_state(broken));
    g.uniform(std::span<float>());
    g.normal(std::span<double>());
    g.randint({}, 0, 2);
    bits(g, 0, 0.5);
    exponentials<float>(g, 0);
    exponentials<double>(g, 0);
    CHECK(g.get_state() == fresh);
  }
}

TEST_CASE("many words at once are those of as many single draws, wherever a block of the stream ends") {
  const Generator many(9), single(9);
  std::vector<std::uint32_t> words;
  for (const std::size_t n : {1u, 3u, 0u, 619u, 2u, 625u, 1300u, 7u, 512u, 513u}) {
    words.resize(n);
    many.words(words);
    for (const std::uint32_t w : words) REQUIRE(w == single.next_u32());
    std::vector<double> units(n);
    many.uniform(std::span<double>(units));
    for (const double u : units) REQUIRE(u == single.uniform_double());
    std::vector<float> floats(n);
    many.uniform(std::span<float>(floats));
    for (const float u : floats) REQUIRE(u == single.uniform_float());
    for (const std::uint8_t one : bits(many, n, 0.3)) REQUIRE((one != 0) == (single.uniform_double() < 0.3));
    CHECK(many.get_state() == single.get_state());
  }
}

}  // namespace
}  // namespace mote::test::random_test
