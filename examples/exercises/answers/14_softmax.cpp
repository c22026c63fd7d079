// Checks 14: softmax that does not overflow.

// hint: Three steps: take from each row its largest number; e to the power of the rest; divide by the sum of the row.
// hint: const Tensor e = exp(x - max(x, {-1}, true)); and now divide e by sum(e, {-1}, true).
// why: With the largest number made 0 the largest power is e^0 = 1: nothing overflows, and no sum is 0.
// why: What is subtracted cancels, as e^(x - m) = e^x / e^m above and below: only differences within a row count.
// why: A number of -inf gets a share of exactly 0, and the others still sum to 1: that is how masks work.
#include "examples/exercises/answers/check.h"

namespace of_check {
using MySoftmax = Tensor(const Tensor& x);
enum Mistake { no_max, one_max, max_flat, sum_flat, both_flat, no_sum, one_sum, first_axis, axis_1, constant };

/// A softmax with a mistake. The flat ones forget keepdim, and run only where x is square.
static Tensor wrongly(Mistake mistake, const Tensor& x) {
  const Axes axis = mistake == first_axis ? 0 : mistake == axis_1 ? 1 : -1;
  const Tensor top = max(x, axis, mistake != max_flat && mistake != both_flat);
  const Tensor e = exp(mistake == no_max ? x : mistake == one_max ? x - max(x) : x - top);
  if (mistake == constant) return tensor({{0.5, 0.5}, {0.1192, 0.8808}});
  if (mistake == no_sum) return e;
  return e / (mistake == one_sum ? sum(e) : sum(e, axis, mistake != sum_flat && mistake != both_flat));
}

static void check(MySoftmax my_softmax) {
  const auto expect_no = [&](Mistake mistake, const Tensor& x, const std::string& sentence) {
    expect_not(my_softmax(x), wrongly(mistake, x), sentence);
  };
  const Tensor square = randn({4, 4}, Generator(7)), cube = randn({2, 3, 5}, Generator(8));
  expect_not(my_softmax(square), exp(square), "That is e^x alone: divide it by its sum, so that each row sums to 1.");
  expect_no(no_sum, square, "These are the powers alone: divide them by their sum, so that each row sums to 1.");
  expect_no(one_sum, square, "You divide by the sum of everything: each row should sum to 1 by itself.");
  expect_no(first_axis, square, "Your columns sum to 1, not your rows: the last axis is -1.");
  for (const Mistake mistake : {max_flat, sum_flat, both_flat})
    expect_no(mistake, square, "keepdim is missing: without it row i's maximum or sum is used for column i.");
  expect_no(axis_1, cube, "Axis 1 is the last one of a matrix alone, but x may have more axes: -1 is always the last.");
  for (const Tensor& x : {square, cube, randn({6}, Generator(9)), randn({3, 1}, Generator(10))}) {
    expect_close("my_softmax of random x " + printed(x.shape()), my_softmax(x), softmax(x));
    const Tensor dy = randn(x.shape(), Generator(11));
    expect_close("its gradient", gradient(my_softmax, x, dy),
                 gradient([](const Tensor& x) { return softmax(x); }, x, dy));
  }
  const Tensor large = tensor({{3000, 0, 2999}, {-1000, -1001, -1003}}), got = my_softmax(large);
  const auto nan_in = [&](Index row) { return std::isnan(sum(select(got, 0, row)).item()); };
  expect(!nan_in(0), "e^3000 is inf, and inf / inf NaN: before exp, take from each row its largest number.");
  expect(!nan_in(1),
         "A row far below another became 0 / 0, NaN: each row needs the maximum of its own, not one of all.");
  expect_close("my_softmax of large numbers", got, softmax(large));
  const Tensor masked = tensor({0, -std::numeric_limits<double>::infinity(), 1});
  expect_close("my_softmax of {0, -inf, 1}", my_softmax(masked), softmax(masked));
  expect_by_hand(my_softmax(Tensor(square.array()).requires_grad_()), {"softmax", "masked_softmax", "log_softmax"});
}

#ifdef PROVE
namespace solution {
Tensor my_softmax(const Tensor& x) {
  const Tensor e = exp(x - max(x, {-1}, true));
  return e / sum(e, {-1}, true);
}
}  // namespace solution

template <Mistake mistake>
static void with() {
  check([](const Tensor& x) { return wrongly(mistake, x); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::my_softmax); }},
    {"overflows", "e^3000 is inf", with<no_max>},
    {"one maximum", "each row needs the maximum", with<one_max>},
    {"e^x", "That is e^x alone", [] { check([](const Tensor& x) { return exp(x); }); }},
    {"no sum", "powers alone", with<no_sum>},
    {"one sum", "the sum of everything", with<one_sum>},
    {"first axis", "Your columns sum to 1", with<first_axis>},
    {"axis 1", "Axis 1 is the last one", with<axis_1>},
    {"keepdim forgotten", "keepdim is missing", with<both_flat>},
    {"mote's own", "mote's own softmax", [] { check([](const Tensor& x) { return softmax(x); }); }},
    {"hard-coded", "my_softmax of random x", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_softmax); });
}
