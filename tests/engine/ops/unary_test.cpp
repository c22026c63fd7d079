// exp log sqrt sin cos abs: check_op for each; where the numbers end, math_test.cpp says of most.
#include "engine/ops/unary.h"

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

}  // namespace
}  // namespace mote::test::unary_test
