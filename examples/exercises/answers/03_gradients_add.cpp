// Checks 03: gradients add up.

// hint: a.grad may already contain the shares of other steps when your function is called. They must not be lost.
// hint: a.grad += z.grad * b.data; and likewise for b. += adds to the gradient that is already there.
// why: If x grows, the result grows along every path from x to the result, so the gradients of all paths add up.
// why: Because backward only adds, zero_grad() has to set all gradients to 0 before the next backward.
// why: With += the case z = x * x needs no special code, because the second share is added to the first.
#include "examples/exercises/answers/check.h"

namespace of_check {
template <class Value>
using Backward = void (*)(const Value& z, Value& a, Value& b);

/// Checks one of the two functions: sum_backward if `is_sum`, otherwise product_backward.
template <class Value>
static void check_one(const std::string& name, Backward<Value> backward, bool is_sum) {
  std::vector<std::vector<double>> all{{0, 2, 1, 1, 3}, {2, 0, 1, 1, 3}, {2, 3, 4, 5, 0}};
  for (const int seed : {3, 2, 1}) all.insert(all.begin(), randn({5}, Generator(seed)).to_vector());
  for (const std::vector<double>& r : all) {
    const double g = r[4];
    Value a{r[0], r[2]}, b{r[1], r[3]};
    backward({is_sum ? r[0] + r[1] : r[0] * r[1], g}, a, b);
    const Tensor before = tensor({r[2], r[3]}), slopes = is_sum ? ones({2}) : tensor({r[1], r[0]});
    const std::string with = ", with data " + printed(r[0]) + " and " + printed(r[1]) + ", gradients " +
                             printed(before) + " before " + name + " and z.grad " + printed(g) + ",";
    expect_close("{a.grad, b.grad}" + with, tensor({a.grad, b.grad}), before + slopes * g);
    expect(a.data == r[0] && b.data == r[1], "data changed");

    Value x{r[0], r[2]};  // the step x + x or x * x
    backward({is_sum ? 2 * r[0] : r[0] * r[0], g}, x, x);
    const double share = g * (is_sum ? 1 : r[0]);
    expect_close("x.grad after " + name + "(z, x, x)" + with, x.grad, r[2] + 2 * share);
  }
}

template <class Value>
static void check(Backward<Value> sum, Backward<Value> product) {
  check_one(std::string("sum_backward"), sum, true);
  check_one(std::string("product_backward"), product, false);
}

struct Number {
  double data;
  double grad = 0;
};
using Rule = void(const Number& z, Number& a, Number& b);
static void sum_rule(const Number& z, Number& a, Number& b) { a.grad += z.grad, b.grad += z.grad; }
static void product_rule(const Number& z, Number& a, Number& b) {
  const double to_a = z.grad * b.data, to_b = z.grad * a.data;
  a.grad += to_a;
  b.grad += to_b;
}
template <Rule* rule>
static void for_sum() {
  check<Number>(rule, product_rule);
}
template <Rule* rule>
static void for_product() {
  check<Number>(sum_rule, rule);
}

static void assigned_sum(const Number& z, Number& a, Number& b) { a.grad = b.grad = z.grad; }
static void assigned(const Number& z, Number& a, Number& b) { a.grad = z.grad * b.data, b.grad = z.grad * a.data; }
static void ones_added(const Number&, Number& a, Number& b) { a.grad += 1, b.grad += 1; }
static void no_z(const Number&, Number& a, Number& b) { a.grad += b.data, b.grad += a.data; }
static void swapped(const Number& z, Number& a, Number& b) { a.grad += z.grad * a.data, b.grad += z.grad * b.data; }
static void one_share(const Number& z, Number& a, Number& b) {
  const double to_a = a.grad + z.grad * b.data, to_b = b.grad + z.grad * a.data;
  a.grad = to_a;
  b.grad = to_b;
}
static void one_share_of_sum(const Number& z, Number& a, Number& b) {
  const double to_a = a.grad + z.grad, to_b = b.grad + z.grad;
  a.grad = to_a;
  b.grad = to_b;
}
static void divided(const Number& z, Number& a, Number& b) {
  a.grad += z.grad * z.data / a.data;
  b.grad += z.grad * z.data / b.data;
}
static void divided_by_a(const Number& z, Number& a, Number& b) {
  const double to_b = z.grad * a.data;
  a.grad += z.grad * z.data / a.data;
  b.grad += to_b;
}
static void divided_by_b(const Number& z, Number& a, Number& b) {
  a.grad += z.grad * b.data;
  b.grad += z.grad * z.data / b.data;
}
static void into_data(const Number& z, Number& a, Number& b) {
  product_rule(z, a, b);
  a.data -= a.grad;
}
static void only_a(const Number& z, Number& a, Number& b) { a.grad += z.grad * b.data; }

static const Row<void()> rows[] = {
    {"assigned", "It overwrites what other steps gave before. Add to a.grad and b.grad: += and not =.",
     for_sum<assigned_sum>, for_product<assigned>},
    {"z.grad forgotten", "It forgets z.grad: every share is multiplied by it.", for_sum<ones_added>, for_product<no_z>},
    {"swapped", "product_backward is swapped: a's share is z.grad times the data of b.", for_product<swapped>},
    {"one share", "x stands in both places and gets two shares: add each at once by +=.", for_sum<one_share_of_sum>,
     for_product<one_share>},
    {"divided", "Where a or b is 0 you divide by 0: a's share is z.grad times the data of b.", for_product<divided>,
     for_product<divided_by_a>, for_product<divided_by_b>},
    {"data changed", "It changes data, but backward changes gradients only.", for_product<into_data>},
    {"a alone", "b gets no share: both a and b get one.", for_product<only_a>},
    {"hard-coded", of_example,
     [] { check<Number>([](const Number&, Number& a, Number& b) { a.grad = b.grad = 6; }, product_rule); }},
};
static const Table table(rows);

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
static const Right right([] { check(solution::sum_backward, solution::product_backward); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(sum_backward, product_backward); });
}
