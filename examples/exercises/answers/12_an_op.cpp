// Checks 12: an op with its own gradient.

// hint: The result: x.array() * map(kernels::table().sigmoid, x.array() * b). The rule computes s once more.
// hint: save(x, b), [](const Array& dy, Grads& dx, const Array& x, real b) {...}, and in it dx.add(0, dy * slope).
// why: A rule knows the slope of its own op alone; dy brings in all that comes after it, whatever that is.
// why: Put together of three ops, it would keep the arrays of all three until backward(); this one keeps x alone.
// why: A rule that captures nothing holds no tensor: so no graph can hold itself, and its memory is freed.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Swish = Tensor(const Tensor& x, real b);
enum Mistake { none, no_dy, no_slope, half_slope, no_b, of_y, unrecorded, constant };

/// What a rule sends to x at one place.
static real sent(real x, real b, real dy, Mistake mistake) {
  if (mistake == of_y) x = x / (1 + std::exp(-b * x));
  const real s = 1 / (1 + std::exp(-b * x)), times = mistake == half_slope ? 0 : mistake == no_b ? 1 : b;
  const real slope = s + times * x * s * (1 - s);
  return mistake == no_dy ? slope : mistake == no_slope ? dy : dy * slope;
}
static Array all_sent(const Array& dy, const Array& x, real b, Mistake mistake) {
  return combine<Array>(x, dy, [=](real x, real dy) { return sent(x, b, dy, mistake); });
}

static void check(Swish swish) {
  for (const real b : {1.702, 0.5, -1.0})
    for (const Shape& shape : {Shape{5}, Shape{2, 3}, Shape{}}) {
      const Tensor x = randn(shape, Generator(7)) * 2 + 0.5, dy = randn(shape, Generator(8)) + 2;
      const Tensor leaf = Tensor(x.array()).requires_grad_(), y = swish(leaf, b);
      expect_not(y, x * sigmoid(x), "b has no effect: s is the sigmoid of b x, not of x.");
      expect_not(y, sigmoid(x * b), "That is s alone: y is x times s.");
      expect_close("swish of random x " + printed(shape), y, x / (exp(x * -b) + 1));
      expect(y.requires_grad(), "Nothing was recorded: return what op.record(...) returns.");
      Index ops = 0;
      for (const auto& [name, count] : count_ops(y)) ops += count;
      expect(ops == 1,
             "Your result is made by " + printed(ops) + " ops of mote: compute with x.array(), and record one op.");
      const Tensor got = gradient([=](const Tensor& x) { return swish(x, b); }, x, dy);
      const auto of = [&](Mistake mistake) { return Tensor(all_sent(dy.array(), x.array(), b, mistake)); };
      expect_not(got, of(no_dy), "Your rule forgets dy: it sends the slope alone, so all that comes after is ignored.");
      expect_not(got, of(no_slope), "Your rule hands dy on as it is: multiply it by the slope of y.");
      expect_not(got, of(half_slope),
                 "Only half of the slope: both factors of x s change, so b x s (1 - s) comes on top.");
      expect_not(got, of(no_b), "In your slope the second part lacks b: s grows b times as fast with x.");
      expect_not(got, of(of_y), "Your rule gets y where it needs x: save(x, b), not the result.");
      expect_close("its gradient", got, of(none));
    }
}

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

template <Mistake mistake>
static void with() {
  check([](const Tensor& x, real b) {
    if (mistake == constant) return tensor(1.7616);
    if (mistake == unrecorded) return Tensor(x.array() * map(kernels::table().sigmoid, x.array() * b));
    Op op("swish", x);
    return op.record(
        x.array() * map(kernels::table().sigmoid, x.array() * b), save(x, b),
        [](const Array& dy, Grads& dx, const Array& x, real b) { dx.add(0, all_sent(dy, x, b, mistake)); });
  });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::swish); }},
    {"dy forgotten", "forgets dy", with<no_dy>},
    {"slope forgotten", "hands dy on", with<no_slope>},
    {"half of the slope", "Only half", with<half_slope>},
    {"b forgotten in the slope", "lacks b", with<no_b>},
    {"keeps y", "gets y where it needs x", with<of_y>},
    {"b forgotten", "b has no effect", [] { check([](const Tensor& x, real) { return silu(x); }); }},
    {"three ops", "ops of mote", [] { check([](const Tensor& x, real b) { return x * sigmoid(x * b); }); }},
    {"not recorded", "Nothing was recorded", with<unrecorded>},
    {"hard-coded", "swish of random x", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(swish); });
}
