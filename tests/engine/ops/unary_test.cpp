// exp log sqrt sin cos abs: check_op for each, and where the numbers end.
#include "engine/ops/unary.h"

#include "tests/support.h"

namespace mote::test::unary_test {
namespace {

real at(Tensor (*f)(const Tensor&), double x) { return f(Tensor(static_cast<real>(x))).item(); }

TEST_CASE("exp") {
  check_op("exp", [](In x) { return exp(x[0]); }, each([](double x) { return std::exp(x); }),
           {random_array({3, 11}, 1)});
}
TEST_CASE("log") {
  check_op("log", [](In x) { return log(x[0]); }, each([](double x) { return std::log(x); }),
           {random_array({3, 11}, 1, 0.2, 4)});
}
TEST_CASE("sqrt") {
  check_op("sqrt", [](In x) { return sqrt(x[0]); }, each([](double x) { return std::sqrt(x); }),
           {random_array({3, 11}, 1, 0.2, 4)});
}
TEST_CASE("sin") {
  check_op("sin", [](In x) { return sin(x[0]); }, each([](double x) { return std::sin(x); }),
           {random_array({3, 11}, 1, -9, 9)});
}
TEST_CASE("cos") {
  check_op("cos", [](In x) { return cos(x[0]); }, each([](double x) { return std::cos(x); }),
           {random_array({3, 11}, 1, -9, 9)});
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

TEST_CASE("exp: overflow, underflow, infinities, NaN") {
  if (!f64) {
    CHECK(at(exp, 88.7228) == doctest::Approx(3.4027e38).epsilon(1e-4));
    CHECK(at(exp, 88.7229) == inf);
    CHECK(at(exp, -87.3366) == doctest::Approx(1.1754e-38).epsilon(1e-3));
    CHECK(at(exp, -103.97) <= real(3e-45));  // the last denormal, or 0
    CHECK(at(exp, -104) == 0);
  }
  CHECK(at(exp, f64 ? 709.9 : 89) == inf);
  CHECK(at(exp, f64 ? -746 : -104) == 0);
  CHECK(at(exp, 0) == 1);
  CHECK(at(exp, -0.0) == 1);
  CHECK(at(exp, inf) == inf);
  CHECK(at(exp, -inf) == 0);
  CHECK(std::isnan(at(exp, nan)));
}

TEST_CASE("log: zeros, negatives, denormals, infinity") {
  CHECK(at(log, 0) == -inf);
  CHECK(at(log, -0.0) == -inf);
  CHECK(std::isnan(at(log, -1)));
  CHECK(std::isnan(at(log, -inf)));
  const double tiny = static_cast<double>(std::numeric_limits<real>::denorm_min());
  CHECK(static_cast<double>(at(log, tiny)) == doctest::Approx(std::log(tiny)));
  CHECK(at(log, inf) == inf);
  CHECK(at(log, 1) == 0);
  CHECK(std::isnan(at(log, nan)));
}

TEST_CASE("sqrt, sin, cos: special values") {
  CHECK(std::isnan(at(sqrt, -1)));
  CHECK(at(sqrt, inf) == inf);
  CHECK(std::signbit(at(sqrt, -0.0)));
  CHECK(Run([](In x) { return sqrt(x[0]); }, {array({1}, {0})}, array({1}, {1})).dx[0].item() == inf);
  CHECK(at(sin, 0) == 0);
  CHECK(std::signbit(at(sin, -0.0)));
  CHECK(at(cos, 0) == 1);
  CHECK(std::isnan(at(sin, inf)));
  CHECK(std::isnan(at(cos, -inf)));
  CHECK(std::isnan(at(cos, nan)));
}

}  // namespace
}  // namespace mote::test::unary_test
