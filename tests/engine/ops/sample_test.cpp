// Random tensors: each op draws what its generator draws; multinomial's shapes, properties and errors.
#include "engine/ops/sample.h"

#include <functional>
#include <set>

#include "engine/ops/create.h"
#include "engine/ops/view.h"
#include "tests/sentences.h"
#include "tests/tools.h"

namespace mote::test::sample_test {
namespace {

/// `op` makes 12 numbers of shape [3, 4]: those that fill(generator, span) makes.
void check_op_draws(const std::function<Tensor(const Generator&)>& op,
                    const std::function<void(const Generator&, std::span<real>)>& fill) {
  const Generator random(3), same(3);
  const Tensor drawn = op(random);
  std::vector<real> expected(12);
  fill(same, expected);
  CHECK(drawn.shape() == Shape{3, 4});
  CHECK(drawn.to_vector() == expected);
  CHECK(!drawn.requires_grad());
  CHECK(random.get_state() == same.get_state());
}

TEST_CASE("rand, uniform, randn, normal, exponential draw what the generator they are given draws") {
  using Out = std::span<real>;
  const Shape shape{3, 4};
  check_op_draws([&](const Generator& g) { return rand(shape, g); }, [](const Generator& g, Out x) { g.uniform(x); });
  check_op_draws([&](const Generator& g) { return uniform(-2, 5, shape, g); },
                 [](const Generator& g, Out x) { g.uniform(x, -2, 5); });
  check_op_draws([&](const Generator& g) { return randn(shape, g); }, [](const Generator& g, Out x) { g.normal(x); });
  check_op_draws([&](const Generator& g) { return normal(-2, 5, shape, g); },
                 [](const Generator& g, Out x) { g.normal(x, -2, 5); });
  check_op_draws([&](const Generator& g) { return exponential(2.5, shape, g); },
                 [](const Generator& g, Out x) { g.exponential(x, 2.5); });
}

TEST_CASE("nothing is drawn for an empty shape") {
  const Generator random(3), same(3);
  CHECK(rand({0}, random).shape() == Shape{0});
  CHECK(exponential(1, {2, 0}, random).shape() == Shape{2, 0});
  CHECK(randint(0, 5, {0, 3}, random).shape() == Shape{0, 3});
  CHECK(bernoulli(Array::zeros({0}), random).shape() == Shape{0});
  CHECK(multinomial(Array::zeros({0, 3}), 2, random).shape() == Shape{0, 2});
  CHECK(random.get_state() == same.get_state());
}

TEST_CASE("randint and randperm make IntArray") {
  const Generator random(3), same(3);
  std::vector<Index> k(12);
  same.randint(k, -2, 9);
  const Generator first(5), second(5);
  CHECK(randint(7, {9}, first).to_vector() == randint(0, 7, {9}, second).to_vector());
  const IntArray drawn = randint(-2, 9, {3, 4}, random);
  CHECK(drawn.shape() == Shape{3, 4});
  CHECK(drawn.to_vector() == k);
  const IntArray order = randperm(7, random);
  CHECK(order.shape() == Shape{7});
  CHECK(order.to_vector() == same.randperm(7));
  CHECK(randperm(0, random).shape() == Shape{0});
  CHECK(random.get_state() == same.get_state());
}

TEST_CASE("bernoulli: ones and zeros of p's shape, read in row-major order") {
  const Generator random(3), same(3);
  const Array p = random_array({3, 4}, 1, 0, 1), across = p.transpose(0, 1);
  std::vector<real> units(12);
  same.uniform(std::span<real>(units));
  const Tensor drawn = bernoulli(p, random);
  CHECK(drawn.shape() == Shape{3, 4});
  for (std::size_t i = 0; i < 12; ++i) CHECK(drawn.to_vector()[i] == (units[i] < p.to_vector()[i] ? 1 : 0));
  CHECK(random.get_state() == same.get_state());
  CHECK(same_bits(bernoulli(across, Generator(5)).array(), bernoulli(across.contiguous(), Generator(5)).array()));
  CHECK(!bernoulli(Parameter(p), random).requires_grad());
  const auto refused = [&](double wrong) {
    const Generator g(1);
    const std::string error = error_of([&] { bernoulli(array({3}, {0.5, 0.5, wrong}), g); });
    CHECK(g.get_state() == Generator(1).get_state());
    return error;
  };
  CHECK_SENTENCE(refused(1.25));
  CHECK_SENTENCE(refused(-0.125));
  CHECK_SENTENCE(refused(nan));
}

TEST_CASE("bernoulli with one probability takes the words of its build") {
  for (const TorchBuild& build : {TorchBuild{}, TorchBuild{.mkl = true}}) {
    const Generator coins(1), same(1);
    coins.set_build(build);
    same.set_build(build);
    std::vector<std::uint8_t> bits(5);
    same.bernoulli_bits(bits, 40, 0.3);
    const Tensor heads = bernoulli(0.3, {4, 10}, coins);
    CHECK(heads.shape() == Shape{4, 10});
    for (std::size_t i = 0; i < 40; ++i) CHECK(heads.to_vector()[i] == (bits[i / 8] >> i % 8 & 1));
    CHECK(coins.get_state() == same.get_state());
  }
  REFUSES(bernoulli(-0.5, {2}, Generator(1)));
}

const Array weights = array({3, 4}, {0, 1, 2, 3, 5, 0, 0, 1, 0.25, 0.25, 0, 0.5});

TEST_CASE("multinomial: shapes, and a row as if it were alone") {
  const Generator random(3), same(3);
  for (const bool replacement : {false, true}) {
    for (const Index count : {1, 2, 4}) {
      CAPTURE(replacement);
      CAPTURE(count);
      const IntArray rows = multinomial(weights, count, replacement, random);
      CHECK(rows.shape() == Shape{3, count});
      for (Index r = 0; r < 3; ++r) {
        const IntArray one = multinomial(weights.slice(0, r, r + 1).reshape({4}), count, replacement, same);
        CHECK(one.shape() == Shape{count});
        CHECK(equal(rows.slice(0, r, r + 1).reshape({count}), one));
      }
      CHECK(random.get_state() == same.get_state());
    }
  }
}

TEST_CASE("multinomial: a class of probability 0 never comes, or last; without replacement none comes twice") {
  const Generator random(3);
  for (int i = 0; i < 2000; ++i) {
    const std::vector<Index> with = multinomial(weights, 5, true, random).to_vector();
    for (std::size_t k = 0; k < with.size(); ++k) REQUIRE(weights.data()[static_cast<Index>(k) / 5 * 4 + with[k]] > 0);
    const std::vector<Index> one = multinomial(weights, 1, true, random).to_vector();
    for (std::size_t r = 0; r < 3; ++r) REQUIRE(weights.data()[static_cast<Index>(r) * 4 + one[r]] > 0);
    const std::vector<Index> all = multinomial(weights, 4, random).to_vector();
    for (std::size_t r = 0; r < 3; ++r) REQUIRE(std::set<Index>(&all[4 * r], &all[4 * r] + 4).size() == 4);
    REQUIRE(all[3] == 0);
    REQUIRE((all[6] == 1 && all[7] == 2));  // two of them: the lower number first
    REQUIRE(all[11] == 2);
  }
}

TEST_CASE("multinomial: the winner alone is the first of the race in which all times are drawn") {
  for (const Index classes : {1, 2, 27, 300, 2000})
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
      Array p = random_array({classes}, seed, 0, 1);
      real* const x = p.mutate();
      for (Index i = 0; i < classes; ++i) {
        if (seed % 4 == 1) x[i] = std::exp(real(-90) * x[i]);         // over many magnitudes, down to the smallest
        if (seed % 4 == 2) x[i] = x[i] < real(0.9) ? real(0) : x[i];  // most of them 0
        if (seed % 4 == 3) x[i] = std::numeric_limits<real>::denorm_min();  // too small to tell apart
      }
      x[classes / 2] = std::max(x[classes / 2], std::numeric_limits<real>::denorm_min());
      const Generator random(seed), same(seed), all(seed);
      const IntArray one = multinomial(p, 1, random);
      std::vector<real> times(static_cast<std::size_t>(classes)), values = p.to_vector();
      same.exponential(std::span<real>(times));
      Index winner = 0;
      detail::race(values, times, {&winner, 1});
      CAPTURE(classes);
      CAPTURE(seed);
      CHECK(one.item() == winner);
      CHECK(random.get_state() == same.get_state());
      if (classes > 1) CHECK(multinomial(p, 2, all).at({0}) == winner);
    }
}

TEST_CASE("what multinomial refuses; nothing is drawn then") {
  const Generator random(3);
  const GeneratorState fresh = random.get_state();
  const auto p = [](double x) { return array({2, 2}, {1, 1, 0.5, x}); };
  const auto error = [&](const Array& of, Index count, bool replacement = false) {
    return error_of([&] { multinomial(of, count, replacement, random); });
  };
  CHECK_SENTENCE(error(Array::full({2, 2, 2}, 1), 1));
  CHECK_SENTENCE(error(Array::full({}, 1), 1));
  CHECK_SENTENCE(error(p(1), 0));
  CHECK_SENTENCE(error(p(1), -1, true));
  CHECK_SENTENCE(error(p(1), 3));
  for (const bool replacement : {false, true}) {
    const std::string rule = " in row 1 must be finite and at least 0";
    CHECK(error(p(-0.25), 2, replacement) == "multinomial: probability -0.25" + rule);
    CHECK(error(p(static_cast<double>(nan)), 2, replacement) == "multinomial: probability nan" + rule);
    CHECK(error(p(static_cast<double>(inf)), 2, replacement) == "multinomial: probability inf" + rule);
    CHECK_SENTENCE(error(array({2, 2}, {1, 0, 0, 0}), 1, replacement));
    CHECK_SENTENCE(error(Array::zeros({2, 0}), 1, true));
  }
  CHECK(random.get_state() == fresh);
}

TEST_CASE("normal: a mean or a standard deviation for each number, broadcast, as torch.normal") {
  // To the 9 digits shown. torch.manual_seed(123) before each: torch.normal(torch.tensor([1., 2., 3.]), 0.5),
  // torch.normal(2.0, torch.tensor([1., 0., 3.])), torch.normal(torch.tensor([[1.], [2.]]), torch.tensor([1., 0.5,
  // 3.]))
  const auto close = [](const Tensor& got, const std::vector<double>& expected) {
    REQUIRE(got.numel() == static_cast<Index>(expected.size()));
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(std::abs(static_cast<double>(got.to_vector()[i]) - expected[i]) < (sizeof(real) == 4 ? 5e-9 : 5e-7));
  };
  close(normal(tensor({1, 2, 3}), 0.5, Generator(123)), {0.944266438, 2.06018138, 2.81518269});
  close(normal(2.0, tensor({1, 0, 3}), Generator(123)), {1.88853288, 2, 0.891096473});
  close(normal(tensor({{1}, {2}}), tensor({1, 0.5, 3}), Generator(123)),
        {0.888532877, 1.0601815, -0.108903527, 1.75958204, 1.4015379, 2.62780809});
  REFUSES(normal(tensor({1, 2}), tensor(-1.0), Generator(1)));
  REFUSES(normal(zeros_of(4, 5), zeros_of(3), Generator(1)));
}

TEST_CASE("multinomial: what is drawn does not depend on strides") {
  const Array p = random_array({4, 6}, 1, 0, 1);
  for (const Array& view : {p.transpose(0, 1), p.slice(0, 0, 4, 2).slice(1, 0, 6, 2)})
    for (const Index count : {1, 2})
      for (const bool replacement : {false, true})
        CHECK(equal(multinomial(view, count, replacement, Generator(1)),
                    multinomial(view.contiguous(), count, replacement, Generator(1))));
}

TEST_CASE("draw_one: what it refuses") {
  const auto says = [](const std::vector<real>& p) { return error_of([&] { draw_one(p, Generator(1)); }); };
  CHECK_SENTENCE(says({}));
  CHECK_SENTENCE(says({0, 0}));
  CHECK_SENTENCE(says({1, -1}));
  CHECK_SENTENCE(says({1, nan}));
  CHECK(draw_one(std::vector<real>{0, 1}, Generator(1)) == 1);
}

}  // namespace
}  // namespace mote::test::sample_test
