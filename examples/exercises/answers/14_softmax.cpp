// Checks 14: softmax that does not overflow.

// hint: Three steps: subtract from each row its largest number, apply exp, and divide each row by its sum.
// hint: const Tensor e = exp(x - max(x, {-1}, true)); and now divide e by sum(e, {-1}, true).
// why: After the subtraction the largest power of a row is e^0 = 1, so nothing overflows and no sum is 0.
// why: e^(x - m) is e^x / e^m, and e^m cancels in the fraction. So only differences within a row matter.
// why: A number of -inf gets a share of exactly 0, and the other shares still sum to 1. Attention masks use this.
#include "examples/exercises/answers/check.h"

namespace of_check {
using MySoftmax = Tensor(const Tensor& x);

static Tensor motes(const Tensor& x) { return softmax(x); }

static void check(MySoftmax my_softmax) {
  const Tensor square = randn({4, 4}, Generator(7));
  const auto expect_softmax = [&](const std::string& of, const Tensor& x) {
    expect_close("my_softmax of " + of, my_softmax(x), softmax(x));
    const Tensor dy = randn(x.shape(), Generator(11));
    expect_close("the gradient of " + of, gradient(my_softmax, x, dy), gradient(motes, x, dy));
  };
  for (const Shape& shape : {Shape{4, 4}, Shape{2, 3, 5}, Shape{6}, Shape{3, 1}})
    expect_softmax("random x " + printed(shape), randn(shape, Generator(7)));
  expect_softmax("numbers beyond 700", tensor({{3000, 0, 2999}, {2000, 2001, 2003}}));
  expect_softmax("rows of which one lies far below another", tensor({{3000, 0, 2999}, {-1000, -1001, -1003}}));
  expect_softmax("numbers that are all far below 0", tensor({-3000, -3001, -2999}));
  expect_softmax("{0, -inf, 1}", tensor({0, -INFINITY, 1}));
  expect_by_hand(my_softmax(Tensor(square.array()).requires_grad_()), {"softmax", "masked_softmax", "log_softmax"});
}

static Tensor shares(const Tensor& e, const Axes& axis = -1) { return e / sum(e, axis, true); }

static const Row<MySoftmax> rows[] = {
    {"overflows", "e^3000 is inf, and inf / inf NaN: before exp, take from each row its largest number.",
     [](const Tensor& x) { return shares(exp(x)); }, [](const Tensor& x) { return shares(exp(clamp(x, -700, 700))); }},
    {"one maximum", "A row far below another became 0 / 0, NaN: each row needs the maximum of its own, not one of all.",
     [](const Tensor& x) { return shares(exp(x - max(x))); }},
    {"no sum", "These are the powers alone: divide them by their sum, so that each row sums to 1.",
     [](const Tensor& x) { return exp(x); }, [](const Tensor& x) { return exp(x - max(x, {-1}, true)); }},
    {"one sum", "You divide by the sum of everything: each row should sum to 1 by itself.",
     [](const Tensor& x) {
       const Tensor e = exp(x - max(x, {-1}, true));
       return e / sum(e);
     },
     [](const Tensor& x) { return exp(x) / sum(exp(x)); }},
    {"another axis", "Your rows do not sum to 1: a row goes along the last axis, which is -1 however many there are.",
     [](const Tensor& x) { return shares(exp(x - max(x, {0}, true)), 0); },
     [](const Tensor& x) { return shares(exp(x - max(x, {1}, true)), 1); },
     [](const Tensor& x) { return shares(exp(x), 0); }, [](const Tensor& x) { return shares(exp(x), 1); }},
    {"keepdim forgotten", "keepdim is missing: without it row i's maximum or sum is used for column i.",
     [](const Tensor& x) { return shares(exp(x - max(x, {-1}))); },
     [](const Tensor& x) {
       const Tensor e = exp(x - max(x, {-1}, true));
       return e / sum(e, {-1});
     },
     [](const Tensor& x) {
       const Tensor e = exp(x - max(x, {-1}));
       return e / sum(e, {-1});
     },
     [](const Tensor& x) { return exp(x) / sum(exp(x), {-1}); }},
    {"mote's own", "this calls mote's own softmax: write it yourself, of simpler ops.", motes},
    {"hard-coded", of_example,
     [](const Tensor&) {
       return tensor({{0.5, 0.5}, {0.1192, 0.8808}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor my_softmax(const Tensor& x) {
  const Tensor e = exp(x - max(x, {-1}, true));
  return e / sum(e, {-1}, true);
}
}  // namespace solution
static const Right right([] { check(solution::my_softmax); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_softmax); });
}
