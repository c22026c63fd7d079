// Checks 03: gradients add up.

// hint: What may already be in a.grad when your function is called? Nothing of it may be lost.
// hint: a.grad += z.grad * b.data; and the same for b. += adds to what is there.
// why: If x grows, the result grows along every way that leads from x to it: that is why the shares add up.
// why: Since backward only adds, gradients have to be set to 0 before the next one: that is what zero_grad() is for.
// why: With += a value in both places needs no special case: the second share comes on top of the first.
#include "examples/exercises/answers/check.h"

namespace of_check {
template <class Value>
using Backward = void (*)(const Value& z, Value& a, Value& b);

/// Checks one of the two; `is_sum` says which.
template <class Value>
static void check_one(const std::string& name, Backward<Value> backward, bool is_sum) {
  for (const int seed : {1, 2, 3}) {
    const std::vector<double> r = randn({5}, Generator(seed)).to_vector();
    const double g = r[4];
    Value a{r[0], r[2]}, b{r[1], r[3]};
    backward({is_sum ? r[0] + r[1] : r[0] * r[1], g}, a, b);
    const Tensor got = tensor({a.grad, b.grad}), before = tensor({r[2], r[3]}), data = tensor({r[0], r[1]});
    const Tensor slopes = is_sum ? ones({2}) : tensor({r[1], r[0]});
    expect(a.data == r[0] && b.data == r[1], name + " changes data, but backward changes gradients only.");
    expect_not(got, before, name + " changes no gradient: add to a.grad and to b.grad.");
    expect_not(got, slopes * g, name + " overwrites what other steps gave before. Add to it: += and not =.");
    expect_not(got, before + slopes, name + " forgets z.grad: every share is multiplied by it.");
    if (!is_sum) expect_not(got, before + data * g, name + " is swapped: a's share is z.grad times the data of b.");
    expect_close("{a.grad, b.grad}, " + printed(before) + " before " + name + ", after it", got, before + slopes * g);

    Value x{r[0], r[2]};  // x + x or x * x
    backward({is_sum ? 2 * r[0] : r[0] * r[0], g}, x, x);
    const double share = g * (is_sum ? 1 : r[0]);
    expect_not(x.grad, r[2] + share, name + "(z, x, x) gives x one share, but x stands in both places and gets two.");
    expect_close("x.grad after " + name + "(z, x, x)", x.grad, r[2] + 2 * share);
  }
}

template <class Value>
static void check(Backward<Value> sum, Backward<Value> product) {
  check_one(std::string("sum_backward"), sum, true);
  check_one(std::string("product_backward"), product, false);
  Value a{0, 1}, b{2, 1};
  product({0, 3}, a, b);
  expect(a.grad == 7 && b.grad == 1,
         "Where a is 0, product_backward goes wrong: a's share is z.grad times the data of b.");
}

#ifdef PROVE
namespace solution {
struct Value {
  double data;
  double grad = 0;
};

void sum_backward(const Value& z, Value& a, Value& b) {
  a.grad += z.grad;
  b.grad += z.grad;
}

void product_backward(const Value& z, Value& a, Value& b) {
  a.grad += z.grad * b.data;
  b.grad += z.grad * a.data;
}
}  // namespace solution

enum Mistake { assigned, forgotten, swapped, one_share, divided, constant };
template <Mistake mistake>
static void wrongly(const solution::Value& z, solution::Value& a, solution::Value& b) {
  if (mistake == divided) return a.grad += z.grad * z.data / a.data, b.grad += z.grad * z.data / b.data, void();
  const double g = mistake == forgotten ? 1 : z.grad, a_had = mistake == assigned ? 0 : a.grad,
               b_had = mistake == assigned ? 0 : b.grad;
  a.grad = mistake == constant ? 6 : a_had + g * (mistake == swapped ? a : b).data;
  b.grad = mistake == constant ? 6 : b_had + g * (mistake == swapped ? b : a).data;
}
template <Mistake mistake>
static void tried_product() {
  check(solution::sum_backward, wrongly<mistake>);
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::sum_backward, solution::product_backward); }},
    {"assigned", "overwrites", tried_product<assigned>},
    {"z.grad forgotten", "forgets z.grad", tried_product<forgotten>},
    {"swapped", "is swapped", tried_product<swapped>},
    {"one share for x * x", "one share", tried_product<one_share>},
    {"divided", "Where a is 0", tried_product<divided>},
    {"hard-coded", "before product_backward", tried_product<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(sum_backward, product_backward); });
}
