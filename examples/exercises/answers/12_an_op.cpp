// Checks 12: an op with its own gradient.

// hint: The result is x.array() * map(kernels::table().sigmoid, x.array() * b). The rule computes s once more.
// hint: op.record(..., save(x, b), [](const Array& dy, Grads& dx, const Array& x, real b) { dx.add(0, dy * slope); });
// why: A rule knows only the slope of its own op. dy stands for all ops that come after this op.
// why: Swish made of three ops would keep the arrays of all three until backward(). As one op it keeps only x.
// why: A rule that captures nothing holds no tensor, so a graph cannot keep itself alive and its memory is freed.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Swish = Tensor(const Tensor& x, real b);

/// The sigmoid of b x, which the exercise calls s.
static Array sigmoid_of(const Array& x, real b) { return (1 / (exp(Tensor(x) * -b) + 1)).array(); }

static void check(Swish swish) {
  const Tensor random = randn({2, 3}, Generator(7)) * 2 + 0.5;
  const Tensor zero_and_large = tensor({0, -0.0, 2000, -2000, 1});
  for (const real b : {1.702, 0.5, -1.0, 0.0})
    for (const Tensor& x : {random, transpose(random, 0, 1), select(select(random, 0, 0), 0, 1), zero_and_large}) {
      const std::string of = " of x " + printed(x) + " with b = " + printed(b);
      const Tensor dy = randn(x.shape(), Generator(8)) + 2, leaf = Tensor(x.array()).requires_grad_();
      const Tensor y = swish(leaf, b);
      const Array s = sigmoid_of(x.array(), b);
      expect_close("swish" + of, y, x.array() * s);
      expect(y.requires_grad(), "one op");
      Index ops = 0;
      for (const auto& [name, count] : count_ops(y)) ops += count;
      expect(ops == 1, "one op");
      const Tensor got = gradient([=](const Tensor& x) { return swish(x, b); }, x, dy);
      expect_close("the gradient" + of, got, dy.array() * (s + x.array() * s * (1 - s) * b));
    }
}

using Rule = void(const Array& dy, Grads& dx, const Array& x, real b);
/// Swish with the right result, and with `rule` for its gradient.
template <Rule* rule>
static Tensor by_rule(const Tensor& x, real b) {
  Op op("swish", x);
  return op.record(x.array() * sigmoid_of(x.array(), b), save(x, b),
                   [](const Array& dy, Grads& dx, const Array& x, real b) { rule(dy, dx, x, b); });
}

static void no_dy(const Array&, Grads& dx, const Array& x, real b) {
  const Array s = sigmoid_of(x, b);
  dx.add(0, s + x * s * (1 - s) * b);
}
static void hands_on(const Array& dy, Grads& dx, const Array&, real) { dx.add(0, dy); }
static void half(const Array& dy, Grads& dx, const Array& x, real b) { dx.add(0, dy * sigmoid_of(x, b)); }
static void no_b(const Array& dy, Grads& dx, const Array& x, real b) {
  const Array s = sigmoid_of(x, b);
  dx.add(0, dy * (s + x * s * (1 - s)));
}
static void b_of_1(const Array& dy, Grads& dx, const Array& x, real) { no_b(dy, dx, x, 1); }
static void b_in_front(const Array& dy, Grads& dx, const Array& x, real b) {
  const Array s = sigmoid_of(x, 1);
  dx.add(0, dy * (s + x * s * (1 - s) * b));
}
static void of_y(const Array& dy, Grads& dx, const Array& x, real b) {
  const Array y = x * sigmoid_of(x, b), s = sigmoid_of(y, b);
  dx.add(0, dy * (s + y * s * (1 - s) * b));
}
static void right_rule(const Array& dy, Grads& dx, const Array& x, real b) {
  const Array s = sigmoid_of(x, b);
  dx.add(0, dy * (s + x * s * (1 - s) * b));
}
static void s_by_division(const Array& dy, Grads& dx, const Array& x, real b) {
  const Array s = x * sigmoid_of(x, b) / x;
  dx.add(0, dy * (s + x * s * (1 - s) * b));
}

static const Row<Swish> rows[] = {
    {"dy forgotten", "Your rule forgets dy: it sends the slope alone, so all that comes after is ignored.",
     by_rule<no_dy>},
    {"half of the slope", "Your rule lacks the slope or half of it: both factors of x s change, which gives two parts.",
     by_rule<hands_on>, by_rule<half>},
    {"b forgotten in the rule",
     "Your rule forgets b: s is the sigmoid of b x, and b stands before the second part of the slope.", by_rule<no_b>,
     by_rule<b_of_1>, by_rule<b_in_front>},
    {"keeps y", "Your rule gets y where it needs x: save(x, b), not the result.", by_rule<of_y>},
    {"b forgotten", "b has no effect: s is the sigmoid of b x, not of x.",
     [](const Tensor& x, real) { return silu(x); }},
    {"one op", "Your result has to be that of one op: compute with x.array(), and return what op.record(...) returns.",
     [](const Tensor& x, real b) { return x * sigmoid(x * b); },
     [](const Tensor& x, real b) { return Tensor(x.array() * sigmoid_of(x.array(), b)); }},
    {"NaN", "Your result or rule is NaN where x is 0 or b x is large: write s as 1 / (1 + e^-bx), and not as y / x.",
     by_rule<s_by_division>,
     [](const Tensor& x, real b) {
       Op op("swish", x);
       const Tensor e = exp(Tensor(x.array() * b));
       return op.record(x.array() * (e / (e + 1)).array(), save(x, b),
                        [](const Array& dy, Grads& dx, const Array& x, real b) { right_rule(dy, dx, x, b); });
     }},
    {"hard-coded", of_example, [](const Tensor&, real) { return Tensor(1.7616); }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor swish(const Tensor& x, real b) {
  Op op("swish", x);
  return op.record(x.array() * map(kernels::table().sigmoid, x.array() * b), save(x, b),
                   [](const Array& dy, Grads& dx, const Array& x, real b) {
                     const Array s = map(kernels::table().sigmoid, x * b);
                     dx.add(0, dy * (s + b * x * s * (1 - s)));
                   });
}
}  // namespace solution
static const Right right([] { check(solution::swish); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(swish); });
}
