// Checks 01: the slope of a curve.

// hint: You need f at two points, and h is needed several times. So first write const double h = 1e-5;
// hint: return (f(x + h) - f(x - h)) / (2 * h); The parentheses around 2 * h are needed.
// why: On both sides of x, the bend of the curve cancels and the error is of order h * h. On one side it is of order h.
// why: With a smaller h the bend matters less, but the rounding error grows as 1 / h. Near 1e-5 both are small.
// why: Measuring costs two calls of f for every weight. A test can afford that, but training cannot: it uses backward.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Function = std::function<double(double)>;
using Slope = double(const Function& f, double x);

static void check_one(Slope slope, const std::string& name, const Function& f, double x, double want) {
  std::vector<double> asked;  // the points where f was called, which show the learner's h
  const auto seen = [&](double at) { return asked.push_back(at), f(at); };
  const double got = slope(seen, x);
  expect(!asked.empty(), "hard-coded");
  const auto [low, high] = std::minmax_element(asked.begin(), asked.end());
  const double h = (*high - *low) / 2;
  expect(h > 5e-10, "tiny h");
  expect(h < 2e-3, "large h");
  expect(*low < x && x < *high, "one side");
  expect(std::abs(want) < 0.1 || !close(got / h / h, want, 1e-6), "/ 2 * h");
  expect_close("The slope of " + name + " at " + printed(x), got, want, 1e-6);  // 1e-6: measuring is not exact
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

static double measured(const Function& f, double x, double h) { return (f(x + h) - f(x - h)) / (2 * h); }

static const Row<Slope> rows[] = {
    {"one side", "You look at one side of x only. Go from x - h to x + h: then the bend cancels.",
     [](const Function& f, double x) { return (f(x + 1e-5) - f(x)) / 1e-5; },
     [](const Function& f, double x) { return (f(x) - f(x - 1e-5)) / 1e-5; }},
    {"divided by h", "Twice too large: from x - h to x + h it is 2h, but you divide by h.",
     [](const Function& f, double x) { return 2 * measured(f, x, 1e-5); }},
    {"tiny h", "Your h is so small that rounding eats the difference of the two values. Take h = 1e-5.",
     [](const Function& f, double x) { return measured(f, x, 1e-15); },
     [](const Function& f, double x) { return measured(f, x, 1e-5 * std::floor(0.5)); }},
    {"large h", "Your h is so large that the curve bends within the step. Take h = 1e-5.",
     [](const Function& f, double x) { return measured(f, x, 0.1); }},
    {"left minus right", "The sign is wrong: take f(x + h) minus f(x - h), right minus left.",
     [](const Function& f, double x) { return -measured(f, x, 1e-5); }},
    {"/ 2 * h", "/ 2 * h divides by 2 and then multiplies by h. Write / (2 * h).",
     [](const Function& f, double x) { return (f(x + 1e-5) - f(x - 1e-5)) / 2 * 1e-5; }},
    {"no brackets", "Only the second value is divided: put brackets around the difference, (f(x + h) - f(x - h)).",
     [](const Function& f, double x) { return f(x + 1e-5) - f(x - 1e-5) / (2 * 1e-5); },
     [](const Function& f, double x) { return f(x + 1e-5) - f(x - 1e-5) / 2 * 1e-5; }},
    {"hard-coded", "Your slope never calls f, so it cannot know the curve.",
     [](const Function&, double) { return 6.0; }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
double slope(const std::function<double(double)>& f, double x) {
  const double h = 1e-5;
  return (f(x + h) - f(x - h)) / (2 * h);
}
}  // namespace solution
static const Right right([] { check(solution::slope); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(slope); });
}
