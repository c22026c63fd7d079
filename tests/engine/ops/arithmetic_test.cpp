// + - * / neg pow: check_op for each, every pair of special values, broadcasting of both.
#include "engine/ops/arithmetic.h"

#include "engine/ops/create.h"
#include "engine/ops/unary.h"
#include "tests/support.h"

namespace mote::test::arithmetic_test {
namespace {

const OpFunction div_op = [](In x) { return div(x[0], x[1]); }, pow_op = [](In x) { return pow(x[0], x[1]); };

/// `unlike` are two inputs whose shapes do not fit.
void check_pair(const std::string& name, const OpFunction& f, double (*oracle)(double, double),
                const std::vector<Tensor>& unlike, const std::string& misfit) {
  const Array any = random_array({2, 3, 4}, 1), positive = random_array({2, 3, 4}, 2, 0.5, 2);
  check_op(name, f, each(oracle), name == "pow" ? std::vector{positive, any} : std::vector{any, positive},
           {.broadcasts = true, .error = [&] { f(unlike); }, .error_text = name + ": shapes " + misfit});
}

TEST_CASE("add, sub, mul, div, pow with a tensor of exponents") {
  check_pair(
      "add", [](In x) { return add(x[0], x[1]); }, [](double a, double b) { return a + b; },
      {zeros_of(8, 16), zeros_of(15)}, "[8, 16] and [15] do not broadcast (axis -1: 16 against 15)");
  check_pair(
      "sub", [](In x) { return sub(x[0], x[1]); }, [](double a, double b) { return a - b; },
      {zeros_of(2, 3), zeros_of(3, 3)}, "[2, 3] and [3, 3] do not broadcast (axis -2: 2 against 3)");
  check_pair(
      "mul", [](In x) { return mul(x[0], x[1]); }, [](double a, double b) { return a * b; }, {zeros_of(0), zeros_of(2)},
      "[0] and [2] do not broadcast (axis -1: 0 against 2)");
  check_pair(
      "div", div_op, [](double a, double b) { return a / b; }, {zeros_of(2, 3), zeros_of(2)},
      "[2, 3] and [2] do not broadcast (axis -1: 3 against 2)");
  check_pair(
      "pow", pow_op, [](double a, double b) { return std::pow(a, b); }, {zeros_of(2), zeros_of(3)},
      "[2] and [3] do not broadcast (axis -1: 2 against 3)");
  check_op("add", [](In x) { return add(x[0], real(1.5)); }, each([](double a) { return a + 1.5; }),
           {random_array({40}, 1)});
  check_op("mul", [](In x) { return mul(x[0], real(-3)); }, each([](double a) { return a * -3; }),
           {random_array({40}, 1)});
}

TEST_CASE("neg") {
  check_op("neg", [](In x) { return neg(x[0]); }, each([](double a) { return -a; }), {random_array({3, 17}, 1)});
  CHECK(std::signbit(neg(Tensor(real(0))).item()));
}

TEST_CASE("pow with one exponent") {
  for (const real e : {real(0), real(1), real(2), real(3), real(0.5), real(-1), real(2.5), real(-2), real(4)}) {
    CAPTURE(e);
    const auto power = [e](double x) { return std::pow(x, static_cast<double>(e)); };
    check_op("pow", [e](In x) { return pow(x[0], e); }, each(power), {random_array({3, 6}, 1, 0.5, 2)},
             {.constant = e == 0});
  }
  check_op("pow", [](In x) { return pow(x[0], real(3)); }, each([](double x) { return x * x * x; }),
           {random_array({3, 6}, 1)});
  CHECK(pow(Tensor(real(-2)), real(3)).item() == -8);
  CHECK(std::isnan(pow(Tensor(real(-2)), real(0.3)).item()));
  // the derivative of x^0 is 0 also where x^-1 is infinite, and that of x^2 at 0 is 0
  const Run at_zero([](In x) { return pow(x[0], real(0)); }, {array({2}, {0, 1})}, array({2}, {1, 1}));
  CHECK(at_zero.dx[0].to_vector() == std::vector<real>{0, 0});
  CHECK(Run([](In x) { return pow(x[0], real(2)); }, {array({1}, {0})}).dx[0].item() == 0);
}

TEST_CASE("pow of 0 by tensors of exponents") {
  // 0^0 = 1 with both derivatives 0; 0^2: d/da = 0, d/db = 0; 0^-1: both infinite, since a pole is no constant
  const Run r(pow_op, {array({3}, {0, 0, 0}), array({3}, {0, 2, -1})}, array({3}, {1, 1, 1}));
  CHECK(r.y.to_vector() == std::vector<real>{1, 0, inf});
  CHECK(r.dx[0].to_vector() == std::vector<real>{0, 0, -inf});
  CHECK(r.dx[1].to_vector() == std::vector<real>{0, 0, -inf});
}

TEST_CASE("arithmetic: every pair of special values gives what IEEE says") {
  const std::vector<real> specials = special_values();
  std::vector<real> left, right;
  for (const real a : specials)
    for (const real b : specials) {
      left.push_back(a);
      right.push_back(b);
    }
  const Index n = static_cast<Index>(left.size());
  const Array a(Shape{n}, left), b(Shape{n}, right);
  const auto expect = [&](const Tensor& y, real (*f)(real, real)) {
    std::vector<real> exact;
    for (std::size_t i = 0; i < left.size(); ++i) exact.push_back(f(left[i], right[i]));
    CHECK(same_bits(y.array(), Array(Shape{n}, exact)));
  };
  for (const kernels::Table* t : kernels::available_tables()) {
    CAPTURE(t->name);
    const Hardware use(*t);
    expect(add(a, b), [](real x, real y) { return x + y; });
    expect(sub(a, b), [](real x, real y) { return x - y; });
    expect(mul(a, b), [](real x, real y) { return x * y; });
    expect(div(a, b), [](real x, real y) { return x / y; });
  }
}

TEST_CASE("arithmetic: both broadcast, and gradients come back in the input's shape") {
  const std::vector<std::array<Shape, 3>> cases{{Shape{3, 1}, Shape{1, 4}, Shape{3, 4}},
                                                {Shape{0, 3}, Shape{1, 3}, Shape{0, 3}},
                                                {Shape{1}, Shape{0}, Shape{0}},
                                                {Shape{}, Shape{}, Shape{}},
                                                {Shape{2, 1, 3}, Shape{5, 1}, Shape{2, 5, 3}}};
  for (const auto& shapes : cases) {
    const Shape &a = shapes[0], &b = shapes[1], &y = shapes[2];
    CAPTURE(a);
    CAPTURE(b);
    const std::vector<Array> inputs{random_array(a, 1, 0.5, 2), random_array(b, 2, 0.5, 2)};
    const Run r(div_op, inputs);
    CHECK((r.y.shape() == y && r.dx[0].shape() == a && r.dx[1].shape() == b));
    check_gradient(div_op, inputs);
  }
}

TEST_CASE("arithmetic: operators are the functions") {
  const Array a = random_array({3, 4}, 1), b = random_array({3, 4}, 2, 0.5, 2);
  const Tensor x = a, y = b;
  CHECK(same_bits((x + y).array(), a + b));
  CHECK(same_bits((x - y).array(), a - b));
  CHECK(same_bits((x * y).array(), a * b));
  CHECK(same_bits((x / y).array(), a / b));
  CHECK(same_bits((-x).array(), -a));
  CHECK(same_bits((x + 2).array(), a + real(2)));
  CHECK(same_bits((x - 2).array(), a - real(2)));
  CHECK(same_bits((x * 3).array(), a * real(3)));
  CHECK(same_bits((x / 3).array(), a / real(3)));
  CHECK(same_bits((2 + x).array(), real(2) + a));
  CHECK(same_bits((2 - x).array(), real(2) - a));
  CHECK(same_bits((3 * x).array(), real(3) * a));
  CHECK(same_bits((3 / y).array(), real(3) / b));
  Tensor z = x;
  z += y;
  z -= x;
  z *= y;
  z /= x;
  CHECK(same_bits(z.array(), ((((a + b) - a) * b) / a)));
  CHECK(same_bits(x.array(), a));  // += makes a new tensor: x has not moved
}

}  // namespace
}  // namespace mote::test::arithmetic_test
