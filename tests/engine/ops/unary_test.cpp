// exp log sqrt sin cos abs: check_op for each; where the numbers end, math_test.cpp says of most.
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

TEST_CASE("sqrt: special values") {
  CHECK(std::isnan(at(sqrt, -1)));
  CHECK(at(sqrt, inf) == inf);
  CHECK(std::signbit(at(sqrt, -0.0)));
  CHECK(Run([](In x) { return sqrt(x[0]); }, {array({1}, {0})}, array({1}, {1})).dx[0].item() == inf);
}

}  // namespace
}  // namespace mote::test::unary_test
