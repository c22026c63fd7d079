// Checks 01: the slope of a curve.

// hint: You need f at two places, and h twice: write const double h = 1e-5; first, and then use it.
// hint: return (f(x + h) - f(x - h)) / (2 * h); and mind the last brackets.
// why: With both sides the bend of the curve cancels: the error is as small as h * h; one-sided it would be as h.
// why: A smaller h bends less but rounds more, as 1 / h; near 1e-5, the cube root of 1e-15, both errors are small.
// why: This costs two calls of f for every weight: fine for a test, hopeless for training, and so there is backward.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Function = std::function<double(double)>;
using Slope = double(const Function& f, double x);

/// Equal but for what measuring costs.
static bool near(double a, double b) { return std::abs(a - b) <= 1e-6 * std::max(1.0, std::abs(b)); }

static void check_one(Slope slope, const std::string& name, const Function& f, double x, double want) {
  std::vector<double> asked;  // where f was called: it shows the learner's h
  const auto seen = [&](double at) { return asked.push_back(at), f(at); };
  const double got = slope(seen, x);
  expect(!asked.empty(), "Your slope never calls f, so it cannot know the curve.");
  const auto [low, high] = std::minmax_element(asked.begin(), asked.end());
  const double h = (*high - *low) / 2;
  expect(h > 5e-10, "Your h is so small that rounding eats the difference of the two values. Take h = 1e-5.");
  expect(h < 2e-3, "Your h is so large that the curve bends within the step. Take h = 1e-5.");
  expect(*low < x && x < *high, "You look at one side of x only. Go from x - h to x + h: then the bend cancels.");
  if (std::abs(want) > 0.1) {
    expect(!near(got, 2 * want), "Twice too large: from x - h to x + h it is 2h, but you divide by h.");
    expect(!near(got, -want), "The sign is wrong: take f on the right, x + h, minus f on the left, x - h.");
    expect(!near(got / h / h, want), "/ 2 * h divides by 2 and then multiplies by h. Write / (2 * h).");
  }
  expect(near(got, want), "The slope of " + name + " at " + printed(x) + " is " + printed(got) +
                              " by your function, but it should be " + printed(want) + ".");
}

static void check(Slope slope) {
  for (const int seed : {1, 2, 3}) {
    const std::vector<double> r = randn({3}, Generator(seed)).to_vector();
    const double a = r[0], b = r[1], x = r[2];
    const auto cubic = [&](double x) { return a * x * x * x + b * x + 1; };
    check_one(slope, printed(a) + " x^3 + " + printed(b) + " x + 1", cubic, x, 3 * a * x * x + b);
    check_one(
        slope, "sin(x)", [](double x) { return std::sin(x); }, x, std::cos(x));
    check_one(
        slope, "e^(-x)", [](double x) { return std::exp(-x); }, x, -std::exp(-x));
  }
  check_one(
      slope, "x * x", [](double x) { return x * x; }, 0, 0);
  check_one(
      slope, "the constant 4", [](double) { return 4; }, 1, 0);
}

#ifdef PROVE
namespace solution {
double slope(const std::function<double(double)>& f, double x) {
  const double h = 1e-5;
  return (f(x + h) - f(x - h)) / (2 * h);
}
}  // namespace solution

enum Mistake { one_sided, by_h, tiny, huge, sign, times_h, constant };
template <Mistake mistake>
static double wrongly(const Function& f, double x) {
  const double h = mistake == tiny ? 1e-15 : mistake == huge ? 0.1 : 1e-5;
  if (mistake == one_sided) return (f(x + h) - f(x)) / h;
  if (mistake == constant) return 6;
  const double rise = f(x + h) - f(x - h);
  return mistake == times_h ? rise / 2 * h : rise / (mistake == by_h ? h : mistake == sign ? -2 * h : 2 * h);
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::slope); }},
    {"one-sided", "one side of x only", [] { check(wrongly<one_sided>); }},
    {"divided by h", "Twice too large", [] { check(wrongly<by_h>); }},
    {"h = 1e-15", "rounding eats", [] { check(wrongly<tiny>); }},
    {"h = 0.1", "bends within the step", [] { check(wrongly<huge>); }},
    {"left minus right", "The sign is wrong", [] { check(wrongly<sign>); }},
    {"/ 2 * h", "then multiplies by h", [] { check(wrongly<times_h>); }},
    {"hard-coded", "never calls f", [] { check(wrongly<constant>); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(slope); });
}
