// exp log log1p expm1 sqrt sin cos abs, rounding, remainders: check_op for each. Where the numbers of most end,
// math_test.cpp says.
#include "engine/ops/unary.h"

#include "engine/array/print.h"
#include "engine/ops/create.h"
#include "engine/ops/reduce.h"
#include "tests/sentences.h"
#include "tests/support.h"

namespace mote::test::unary_test {
namespace {

real at(Tensor (*f)(const Tensor&), double x) { return f(Tensor(static_cast<real>(x))).item(); }

struct Case {
  const char* name;
  Tensor (*op)(const Tensor&);
  double (*f)(double);
  Array x;
};

TEST_CASE("exp, log, sqrt, sin, cos") {
  for (const Case& c : {Case{"exp", exp, std::exp, random_array({3, 11}, 1)},
                        {"log", log, std::log, random_array({3, 11}, 1, 0.2, 4)},
                        {"sqrt", sqrt, std::sqrt, random_array({3, 11}, 1, 0.2, 4)},
                        {"sin", sin, std::sin, random_array({3, 11}, 1, -9, 9)},
                        {"cos", cos, std::cos, random_array({3, 11}, 1, -9, 9)}})
    check_op(c.name, [&](In x) { return c.op(x[0]); }, each(c.f), {c.x});
}

TEST_CASE("abs") {
  check_op("abs", [](In x) { return abs(x[0]); }, each([](double x) { return std::abs(x); }),
           {random_off_zero({3, 11}, 1)});
  const Run r([](In x) { return abs(x[0]); }, {array({4}, {0, -0.0, -2, nan})}, array({4}, {1, 1, 1, 1}));
  CHECK(r.dx[0].at({0}) == 0);
  CHECK(r.dx[0].at({1}) == 0);
  CHECK(r.dx[0].at({2}) == -1);
  CHECK(std::isnan(r.y.at({3})));
  CHECK_FALSE(std::signbit(r.y.at({1})));
}

TEST_CASE("sqrt: special values") {
  CHECK(std::isnan(at(sqrt, -1)));
  CHECK(at(sqrt, inf) == inf);
  CHECK(std::signbit(at(sqrt, -0.0)));
  CHECK(Run([](In x) { return sqrt(x[0]); }, {array({1}, {0})}, array({1}, {1})).dx[0].item() == inf);
}

/// Numbers at which functions of one number differ: both zeros, infinities, NaN, halves, tiny and large ones.
const std::vector<double> traps{0, -0.0, inf, -inf, nan, 0.5, -0.5, 1.5, 2.5, -2.5, 1e-8, -1e-8, 20, 100, -100};

TEST_CASE("log1p, expm1") {
  check_op("log1p", [](In x) { return log1p(x[0]); }, each([](double x) { return std::log1p(x); }),
           {random_array({3, 11}, 1, -0.8, 4)});
  check_op("expm1", [](In x) { return expm1(x[0]); }, each([](double x) { return std::expm1(x); }),
           {random_array({3, 11}, 1)});
  // PyTorch: torch.log1p(x), torch.expm1(x) of the traps, without their last four
  const std::vector<double> x(traps.begin(), traps.end() - 3);
  check_torch(
      [](In t) { return log1p(t[0]); }, x,
      {0, -0.0, inf, nan, nan, 0.405465096, -0.693147182, 0.91629076, 1.25276291, nan, 9.99999994e-09, -9.99999994e-09},
      {1, 1, 0, -0.0, nan, 0.666666687, 2, 0.400000006, 0.285714298, -0.666666687, 1, 1});
  check_torch([](In t) { return expm1(t[0]); }, x,
              {0, -0.0, inf, -1, nan, 0.648721278, -0.393469334, 3.48168898, 11.1824942, -0.917914987, 9.99999994e-09,
               -9.99999994e-09},
              {1, 1, inf, 0, nan, 1.64872122, 0.606530666, 4.48168898, 12.1824942, 0.0820850134, 1, 1});
  // Near 0 no digit is lost.
  for (const double tiny : {1e-8, -1e-8, 1e-20}) {
    CHECK(std::abs(static_cast<double>(expm1(Tensor(tiny)).item()) / tiny - 1) < 1e-7);
    CHECK(std::abs(static_cast<double>(log1p(Tensor(tiny)).item()) / tiny - 1) < 1e-7);
  }
  CHECK(std::signbit(expm1(Tensor(-0.0)).item()));
}

TEST_CASE("log10, log2") {
  const std::vector<double> x{0.001, 0.1, 0.5, 1, 2, 3, 10, 12345.678, 1e30};
  check_torch([](In t) { return log10(t[0]); }, x, {-3, -1, -0.30103001, 0, 0.30103001, 0.477121264, 1, 4.09151506, 30},
              {434.294464, 4.34294462, 0.868588924, 0.434294462, 0.217147231, 0.144764826, 0.0434294455, 3.51778544e-05,
               4.34294475e-31});
  check_torch([](In t) { return log2(t[0]); }, x,
              {-9.96578407, -3.32192802, -1, 0, 1, 1.58496249, 3.32192802, 13.5917187, 99.6578445},
              {1442.69507, 14.4269505, 2.88539004, 1.44269502, 0.721347511, 0.48089835, 0.144269511, 0.000116858304,
               1.44269494e-30});
  using Op = Tensor (*)(const Tensor&);
  for (const Op op : {Op(log10), Op(log2)}) {
    CHECK(at(op, 0) == -inf);
    CHECK(at(op, inf) == inf);
    CHECK(std::isnan(at(op, -1)));
    CHECK(op(Tensor(Array::zeros({0, 2}))).shape() == Shape{0, 2});
  }
}

TEST_CASE("floor, ceil, round, sign: the gradient is 0") {
  struct Step {
    const char* name;
    OpFunction op;
    double (*f)(double);
    std::vector<double> of_traps;
  };
  const Step all[] = {
      {"floor",
       [](In x) { return floor(x[0]); },
       std::floor,
       {0, -0.0, inf, -inf, nan, 0, -1, 1, 2, -3, 0, -1, 20, 100, -100}},
      {"ceil",
       [](In x) { return ceil(x[0]); },
       std::ceil,
       {0, -0.0, inf, -inf, nan, 1, -0.0, 2, 3, -2, 1, -0.0, 20, 100, -100}},
      {"round",
       [](In x) { return round(x[0]); },
       std::nearbyint,
       {0, -0.0, inf, -inf, nan, 0, -0.0, 2, 2, -2, 0, -0.0, 20, 100, -100}},
      {"sign",
       [](In x) { return sign(x[0]); },
       [](double x) { return double((x > 0) - (x < 0)); },
       {0, 0, 1, -1, 0, 1, -1, 1, 1, -1, 1, -1, 1, 1, -1}},
  };
  for (const Step& s : all) {
    INFO(s.name);
    check_op(s.name, s.op, each(s.f), {array({2, 3}, {0.3, -0.7, 1.2, -1.8, 2.6, -3.4})}, {.constant = true});
    check_torch(s.op, traps, s.of_traps, std::vector<double>(traps.size(), 0));
  }
  CHECK(Run([](In x) { return floor(x[0]); }, {array({1}, {1.5})}, array({1}, {inf})).dx[0].item() == 0);
}

TEST_CASE("round to a number of decimals") {
  // torch.round(x, decimals=2), torch.round(x, decimals=-1)
  CHECK(to_text(round(tensor({0.125, -1.005, 2.675, 12345.678}), 2).array(), {.precision = 3}) ==
        to_text(array({4}, {0.12, -1, 2.68, 12345.68}), {.precision = 3}));
  CHECK(round(tensor({15, -25, 4.9, 12345.678}), -1).to_vector() == std::vector<real>{20, -20, 0, 12350});
  REFUSES(round(tensor({1}), 31));
}

TEST_CASE("remainder") {
  const Oracle left = [](const std::vector<Value>& in) {
    std::vector<double> y;
    for (std::size_t i = 0; i < in[0].x.size(); ++i) {
      const double a = in[0].x[i], b = in[1].x[i % 11];
      y.push_back(a - std::floor(a / b) * b);
    }
    return y;
  };
  // All quotients lie between 1 and 2.
  check_op("remainder", [](In x) { return remainder(x[0], x[1]); }, left,
           {random_array({3, 11}, 1, 4.2, 5.8), random_array({11}, 2, 3, 4)},
           {.empty = {Array::zeros({0, 11}), random_array({11}, 2, 3, 4)}});
  // PyTorch: a % b, and the gradients for a dy of ones
  const Run r(
      [](In x) { return x[0] % x[1]; },
      {array({11}, {5, -5, 5, -5, 0, 7.5, inf, 1, nan, 1, -1}), array({11}, {3, 3, -3, -3, 2, -2, 2, 0, 1, inf, inf})},
      Array::full({11}, 1));
  CHECK(distance(r.y.to_vector(), {2, 1, -1, -2, 0, -0.5, nan, nan, nan, 1, inf}) == 0);
  CHECK(distance(r.dx[0].to_vector(), std::vector<double>(11, 1)) == 0);
  CHECK(distance(r.dx[1].to_vector(), {-1, 2, 2, -1, 0, 4, nan, -inf, nan, 0, 1}) == 0);
  CHECK((tensor({7, -7}) % 3).to_vector() == std::vector<real>{1, 2});
}

}  // namespace
}  // namespace mote::test::unary_test
