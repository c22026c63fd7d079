// Checks 05: tanh, forward and backward.

// hint: forward() has to put its result into kept before it returns it.
// hint: kept = std::tanh(x); return kept; and in backward() the slope is 1 - kept * kept, times g.
// why: The slope is known from y alone, so x may be forgotten: ops that keep little leave memory for larger models.
// why: At 0 the slope is 1, at y = 0.99 only 0.02: where tanh is flat, little gradient passes, and learning is slow.
// why: A backward never asks what L is. It multiplies what arrives by its own slope, and hands it on.
#include "examples/exercises/answers/check.h"

namespace of_check {
template <class Op>
static void check() {
  Op op;
  const std::vector<double> inputs = (randn({6}, Generator(3)) * 0.8).to_vector();
  const std::vector<double> gradients = (randn({6}, Generator(4)) * 3).to_vector();
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const double x = inputs[i], g = gradients[i], y = 1 - 2 / (std::exp(2 * x) + 1);  // tanh, written otherwise
    expect_close("forward(" + printed(x) + ")", op.forward(x), y);
    const double got = op.backward(g);
    expect_not(got, g, "The slope is always 1: has forward() put its result into kept?");
    expect_not(got, g * (1 - x * x), "That is 1 - x * x: forward() has to keep its result y, not x.");
    expect_not(got, 1 - y * y, "g has no effect: L grows g times as fast as y, so multiply the slope by g.");
    expect_not(got, g * (1 - y) * (1 - y), "That is (1 - y) squared. The square of y alone is taken from 1.");
    expect_not(got, g * y * (1 - y), "y * (1 - y) is the slope of sigmoid. That of tanh is 1 - y * y.");
    expect_not(got, g * (1 - std::pow(std::tanh(y), 2)), "tanh is taken twice: what is kept is already tanh of x.");
    expect_close("backward(" + printed(g) + ") after forward(" + printed(x) + ")", got, g * (1 - y * y));
  }
  Op first, second;
  first.forward(0.5), second.forward(-1);
  expect(close(first.backward(1), 1 - std::pow(std::tanh(0.5), 2)),
         "Two ops share what they keep: put it into the struct.");
  for (const double x : {0.0, 20.0, -1000.0, 1000.0}) {
    const double y = op.forward(x), want = x == 0 ? 0 : x > 0 ? 1 : -1;
    expect(y == y, "forward(" + printed(x) + ") is NaN: a power of e is too large for a double. std::tanh avoids it.");
    expect_close("forward(" + printed(x) + ")", y, want);
    expect_close("backward(2) after forward(" + printed(x) + ")", op.backward(2), x == 0 ? 2 : 0);
  }
}

#ifdef PROVE
namespace solution {
struct MyTanh {
  double kept = 0;  // from forward() to backward()

  double forward(double x) {
    kept = std::tanh(x);
    return kept;
  }
  double backward(double g) const { return g * (1 - kept * kept); }
};
}  // namespace solution

enum Mistake { nothing_kept, x_kept, no_g, squared, sigmoids, twice, overflow, shared, constant };
template <Mistake mistake>
struct Wrongly {
  static inline double one = 0;
  double own = 0, &kept = mistake == shared ? one : own;

  double forward(double x) {
    const double y = mistake == overflow ? (std::exp(x) - std::exp(-x)) / (std::exp(x) + std::exp(-x)) : std::tanh(x);
    if (mistake != nothing_kept) kept = mistake == x_kept ? x : mistake == twice ? std::tanh(y) : y;
    return mistake == constant ? 0.462117 : y;
  }
  double backward(double g) const {
    if (mistake == no_g) return 1 - kept * kept;
    return g * (mistake == squared    ? (1 - kept) * (1 - kept)
                : mistake == sigmoids ? kept * (1 - kept)
                                      : 1 - kept * kept);
  }
};
static const Tried tried[] = {
    {"solution", "", check<solution::MyTanh>},
    {"nothing kept", "always 1", check<Wrongly<nothing_kept>>},
    {"x kept", "1 - x * x", check<Wrongly<x_kept>>},
    {"g forgotten", "g has no effect", check<Wrongly<no_g>>},
    {"(1 - y)^2", "(1 - y) squared", check<Wrongly<squared>>},
    {"sigmoid's slope", "the slope of sigmoid", check<Wrongly<sigmoids>>},
    {"tanh twice", "tanh is taken twice", check<Wrongly<twice>>},
    {"overflow", "is NaN", check<Wrongly<overflow>>},
    {"shared by all ops", "Two ops share", check<Wrongly<shared>>},
    {"hard-coded", "forward(", check<Wrongly<constant>>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) { return of_check::judge(argc, argv, of_check::check<MyTanh>); }
