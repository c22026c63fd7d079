// Every draw of tests/vectors/torch_random.txt that needs no layer, made by Generator and the ops of sample.h and
// engine/ops/dropout.h, against the numbers PyTorch drew, and the word that follows.

#include <span>
#include <type_traits>

#include "engine/ops/dropout.h"
#include "engine/ops/sample.h"
#include "tests/engine/array/draws.h"
#include "tests/tools.h"
#include "tests/torch_random.h"

namespace mote::test::random_vectors_test {
namespace {

using Floats = std::span<float>;
template <class T, class Fill>
std::vector<T> drawn(TorchDraw& d, const Fill& fill) {
  std::vector<T> out(d.part().size());
  fill(d.random, std::span<T>(out));
  return out;
}
/// As many T as the vector has, made by fill(generator, span): digit for digit, or nearly.
template <class T, class Fill>
TorchRule digits(const Fill& fill) {
  return [=](TorchDraw& d) { check_digits(d.part(), drawn<T>(d, fill)); };
}
template <class T, class Fill>
TorchRule close(const Fill& fill, double mean = 0) {
  return [=](TorchDraw& d) { check_close(d.part(), drawn<T>(d, fill), mean); };
}
/// As random.h promises: every bit of a float, a double nearly.
template <class T, class Fill>
TorchRule promised(const Fill& fill, double mean = 0) {
  return std::is_same_v<T, double> ? close<T>(fill, mean) : digits<T>(fill);
}

/// The same with the settings of another PyTorch.
TorchRule as(const TorchBuild& build, const TorchRule& rule) {
  return [build, rule](TorchDraw& d) {
    d.random.set_build(build);
    rule(d);
  };
}
constexpr TorchBuild torch_113{.mkl = false, .version = 113}, mkl{.mkl = true}, mkl_206{.mkl = true, .version = 206};

template <class T>
TorchRule uniform_in(double low, double high) {
  return digits<T>([=](const Generator& g, std::span<T> out) { g.uniform(out, low, high); });
}
template <class T>
TorchRule normals(double mean, double std) {
  return promised<T>([=](const Generator& g, std::span<T> out) { g.normal(out, mean, std); }, mean);
}
template <class T>
TorchRule strided_normals(double mean, double std) {
  return promised<T>([=](const Generator& g, std::span<T> out) { test::strided_normals(g, out, mean, std); }, mean);
}
template <class T>
TorchRule exponentials(double lambda) {
  return promised<T>([=](const Generator& g, std::span<T> out) { g.exponential(out, lambda); });
}
TorchRule int_rule(std::int64_t low, std::int64_t high) {
  return digits<std::int64_t>([=](const Generator& g, std::span<std::int64_t> out) { g.randint(out, low, high); });
}
TorchRule bits(double p) {
  return [=](TorchDraw& d) { check_digits(d.part(), test::bits(d.random, d.part().size(), p)); };
}
TorchRule bits(const std::vector<double>& p) {
  return [=](TorchDraw& d) {
    const Shape shape{static_cast<Index>(p.size())};
    check_digits(d.part(), bernoulli(array(shape, p), d.random).to_vector());
  };
}
/// dropout(1, 1 + step, 1 + 2 step, ...).
TorchRule drop(double p, int step) {
  return [=](TorchDraw& d) {
    std::vector<double> x(d.part().size(), 1);
    for (std::size_t i = 1; i < x.size(); ++i) x[i] = x[i - 1] + step;
    check_digits(d.part(), dropout(array({static_cast<Index>(x.size())}, x), p, d.random).to_vector());
  };
}

/// normal(mean, std) with a pair for every number.
void normal_of_tensors(TorchDraw& d) {
  std::vector<double> mean, std;
  for (std::size_t i = 0; i < d.part().size(); ++i) {
    mean.push_back(static_cast<double>(i) / 4 - 1);
    std.push_back(static_cast<double>(i) / 8 + 0.5);
  }
  const Shape shape{static_cast<Index>(mean.size())};
  const std::vector<real> got = normal(Tensor(array(shape, mean)), array(shape, std), d.random).to_vector();
  f64 ? check_close(d.part(), got, 0) : check_digits(d.part(), got);
}

struct Probabilities {
  Shape shape;
  std::vector<double> p;
};
const Probabilities p1{{5}, {0.1, 0.2, 0.3, 0.25, 0.15}};
const Probabilities p2{{2, 5}, {0.1, 0.2, 0.3, 0.25, 0.15, 5, 0, 1, 1, 2}};
const Probabilities p3{
    {3, 7}, {0.5, 0, 2, 1.25, 0.75, 3, 0.125, 1, 0.2, 0.3, 0, 4, 0.6, 0.7, 0.05, 0.9, 0.15, 0.3, 0.45, 0, 0.2}};
const std::vector<double> tenths{0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1};
const std::vector<double> pb{0.5, 0,   0.1, 0.25, 0.75, 1,    0.125, 1,    0.2,  0.3, 0,
                             0.4, 0.6, 0.7, 0.05, 0.9,  0.15, 0.3,   0.45, 0.99, 0.2};

TorchRule multinomials(const Probabilities& of, Index count, bool replacement, int times = 1) {
  return [=](TorchDraw& d) {
    std::vector<Index> all;
    for (int i = 0; i < times; ++i)
      for (const Index x : multinomial(array(of.shape, of.p), count, replacement, d.random).to_vector())
        all.push_back(x);
    check_digits(d.part(), all);
  };
}

/// The words at these places, counted from 0.
TorchRule words(const std::vector<std::size_t>& places) {
  return [places](TorchDraw& d) {
    std::vector<std::uint32_t> at, all(places.back() + 1);
    for (std::uint32_t& w : all) w = d.random.next_u32();
    for (const std::size_t place : places) at.push_back(all[place]);
    check_digits(d.part(), at);
  };
}

/// Calls of several kinds in turn, which share the cached half of a normal pair: the 3 leave one, 16 neither take nor
/// leave it, 1 takes it.
void chain(const Generator& g, Floats out) {
  g.normal(out.subspan(0, 3));
  g.uniform(out.subspan(3, 2));
  g.normal(out.subspan(5, 16));
  g.normal(out.subspan(21, 1));
  g.normal(out.subspan(22, 2));
}
/// The half passes between number types: it is kept unscaled and in double.
void chain_mixed(TorchDraw& d) {
  std::vector<float> narrow(5);
  std::vector<double> wide(20);
  const Floats f(narrow);
  const std::span<double> w(wide);
  d.random.normal(f.first(1));
  d.random.normal(w.first(1), 100, 10);
  d.random.normal(f.subspan(1, 3));
  d.random.normal(w.subspan(1, 17));
  d.random.normal(w.last(2));
  d.random.normal(f.last(1));
  check_digits(d.part("float32"), narrow);
  check_close(d.part("float64"), wide, 0);
}

void int64s(const Generator& g, std::span<std::int64_t> out) {
  for (std::int64_t& x : out) x = g.random_int64();
}

std::vector<TorchRules> rules() {
  using Limits = std::numeric_limits<std::int64_t>;
  const auto power = [](int n) { return std::int64_t(1) << n; };
  return {
      {"words_u32_10", words({0, 1, 2, 3, 4, 5, 6, 7, 8, 9})},
      {"word_623_624_1247_1248", words({623, 624, 1247, 1248})},
      {"rand_1 rand_2 rand_7 rand_10 rand_33", uniform_in<float>(0, 1)},
      {"rand_float64_1 rand_float64_5 rand_float64_6", uniform_in<double>(0, 1)},
      {"uniform_-0.3_0.7_10", uniform_in<float>(-0.3, 0.7)},
      {"uniform_float64_-0.3_0.7_10", uniform_in<double>(-0.3, 0.7)},
      {"uniform_-2_5_9", uniform_in<float>(-2, 5)},
      {"uniform_float64_-2_5_9", uniform_in<double>(-2, 5)},
      {"randn_1 randn_2 randn_3 randn_5 randn_8 randn_14 randn_15 randn_16 randn_17 randn_18 randn_24 "
       "randn_31 randn_32 randn_33 randn_40",
       normals<float>(0, 1)},
      {"randn_float64_1 randn_float64_5 randn_float64_15 randn_float64_16 randn_float64_17 "
       "randn_float64_18 randn_float64_32 randn_float64_39",
       normals<double>(0, 1)},
      {"normal_mean0_std0.02_5 normal_mean0_std0.02_40", normals<float>(0, 0.02)},
      {"normal_mean1.5_std0.3_17", normals<float>(1.5, 0.3)},
      {"normal_float64_mean1.5_std0.3_5 normal_float64_mean1.5_std0.3_17", normals<double>(1.5, 0.3)},
      {"normal_mean-3_std2.5_9 normal_mean-3_std2.5_21", normals<float>(-3, 2.5)},
      {"normal_float64_mean-3_std2.5_21", normals<double>(-3, 2.5)},
      {"normal_strided_mean1.5_std0.3_20", strided_normals<float>(1.5, 0.3)},
      {"normal_strided_float64_mean1.5_std0.3_20", strided_normals<double>(1.5, 0.3)},
      {"chain_randn3_rand2_randn16_randn1_randn2", digits<float>(chain)},
      {"chain_mixed", chain_mixed},
      {"randint_0_2_n16", int_rule(0, 2)},
      {"randint_0_10_n20", int_rule(0, 10)},
      {"randint_-5_5_n10", int_rule(-5, 5)},
      {"randint_-3_14_n5", int_rule(-3, 14)},
      {"randint_0_50257_2x4", int_rule(0, 50257)},
      {"randint_0_268435455_n3", int_rule(0, power(28) - 1)},
      {"randint_0_268435456_n3_v27", int_rule(0, power(28))},
      {"randint_0_268435456_n3_before_v27", as(torch_113, int_rule(0, power(28)))},
      {"randint_0_2147483648_n4_v27", int_rule(0, power(31))},
      {"randint_0_2147483648_n4_before_v27", as(torch_113, int_rule(0, power(31)))},
      {"randint_0_4294967295_n3_before_v27", as(torch_113, int_rule(0, power(32) - 1))},
      {"randint_0_4294967296_n3", int_rule(0, power(32))},
      {"randint_0_8589934592_n4", int_rule(0, power(33))},
      {"randint_0_1099511627776_n3", int_rule(0, power(40))},
      {"randint_-9223372036854775808_9223372036854775807_n3", int_rule(Limits::min(), Limits::max())},
      {"random__int64 random__int64_n3", digits<std::int64_t>(int64s)},
      {"randperm_1 randperm_2 randperm_3 randperm_10 randperm_30 randperm_100 random_split_7_3",
       [](TorchDraw& d) { check_digits(d.part(), d.random.randperm(static_cast<Index>(d.part().size()))); }},
      {"bernoulli_0.5_n20", bits(0.5)},
      {"bernoulli_0.5_n20_mkl", as(mkl, bits(0.5))},
      {"bernoulli_0.3_n17", bits(0.3)},
      {"bernoulli_0.3_n17_mkl", as(mkl, bits(0.3))},
      {"bernoulli_0.9_n33", bits(0.9)},
      {"dropout_0.5_of_1_to_12 dropout_float64_0.5_of_1_to_12", drop(0.5, 1)},
      {"dropout_0.5_of_1_to_12_mkl", as(mkl, drop(0.5, 1))},
      {"dropout_0.5_ones_6x6", drop(0.5, 0)},
      {"dropout_0.5_ones_6x6_mkl", as(mkl, drop(0.5, 0))},
      {"exponential_8", exponentials<float>(1)},
      {"exponential_float64_8", exponentials<double>(1)},
      {"exponential_2.5_9", exponentials<float>(2.5)},
      {"exponential_float64_2.5_9", exponentials<double>(2.5)},
      {"exponential_8_mkl_v20_to_v26",
       as(mkl_206, close<float>([](const Generator& g, Floats out) { g.exponential(out); }))},
  };
}

/// Ops compute in `real`, so what PyTorch drew from float32 tensors is for the float build, and float64 for the other:
/// a probability of 0.1 is another number there, and so may be what it draws.
void add_ops(std::vector<TorchRules>& table, bool float64) {
  const auto add = [&](const std::string& op, const std::string& rest, const TorchRule& rule) {
    table.push_back({op + (float64 ? "float64_" : "") + rest, float64 == f64 ? rule : TorchRule()});
  };
  add("normal_tensor_tensor_", "6", normal_of_tensors);
  add("normal_tensor_tensor_", "20", normal_of_tensors);
  add("bernoulli_tensor_", "linspace_0_1_11", bits(tenths));
  add("bernoulli_", "of_PB", bits(pb));
  add("dropout_", "0.1_of_1_to_12", drop(0.1, 1));
  if (!float64) add("dropout_", "0.1_of_1_to_12_mkl", as(mkl, drop(0.1, 1)));
  add("multinomial_", "1_of_P1_20_times", multinomials(p1, 1, false, 20));
  add("multinomial_", "1_of_P1_20_times_replacement_before_v20", as(torch_113, multinomials(p1, 1, true, 20)));
  if (!float64) add("multinomial_", "1_of_P1_20_times_mkl_v20_to_v26", as(mkl_206, multinomials(p1, 1, true, 20)));
  add("multinomial_", "3_of_P1", multinomials(p1, 3, false));
  add("multinomial_", "12_of_P1_replacement", multinomials(p1, 12, true));
  add("multinomial_", "1_of_P2", multinomials(p2, 1, true));  // since 2.0 one is one, with replacement or without
  add("multinomial_", "4_of_P2_replacement", multinomials(p2, 4, true));
  add("multinomial_", "1_of_P3", multinomials(p3, 1, false));
  add("multinomial_", "6_of_P3", multinomials(p3, 6, false));
  add("multinomial_", "40_of_P3_replacement", multinomials(p3, 40, true));
}

TEST_CASE("random: every draw of torch_random.txt that needs no layer") {
  std::vector<TorchRules> table = rules();
  add_ops(table, false);
  add_ops(table, true);
  check_torch_draws(
      table, [](const std::string& name) { return !layer_draws.contains(name) && !loader_draws.contains(name); });
}

}  // namespace
}  // namespace mote::test::random_vectors_test
