// Checks 06: is this slope right?

// hint: Measure first. Then the answer is a comparison of two numbers: return difference < allowed;
// hint: std::abs(claimed - measured) < 1e-6 * std::max({1.0, std::abs(claimed), std::abs(measured)})
// why: A double has 16 digits whatever its size is, so the error of a measured slope grows with the slope.
// why: The check needs only f and no known gradient, so it finds mistakes in rules that nobody has seen before.
// why: Comparisons with NaN are false. So a test should ask "is it good?", because "is it bad?" would let NaN pass.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Function = std::function<double(double)>;
using IsSlope = bool(const Function& f, double x, double claimed);

/// A claim about the slope of f at x, and whether the claim is right.
struct Claim {
  std::string name;
  Function f;
  double x, claimed;
  bool right;
};

static std::vector<Claim> claims() {
  std::vector<Claim> all;
  const Function square = [](double x) { return x * x; }, sum = [](double x) { return x * x + x; };
  for (const int seed : {1, 2, 3}) {
    const std::vector<double> r = randn({2}, Generator(seed)).to_vector();
    const double x = std::abs(r[0]), s = 2 * x + 1;
    for (const double factor : {1.0, -1.0, 2.0, 0.5, 0.0, 0.999, 1.001})
      all.push_back({"of x * x + x", sum, x, factor * s, factor == 1});
    for (const double size : {1e9, -1e9})
      for (const double factor : {1.0, 0.99, 1.01})
        all.push_back({"of a curve as steep as 1e9", [=](double x) { return size * std::sin(x); }, r[1],
                       factor * size * std::cos(r[1]), factor == 1});
  }
  all.push_back({"of x * x * x / 10", [](double x) { return x * x * x / 10; }, 0, 0, true});
  all.push_back({"of x / 1000", [](double x) { return x / 1000; }, 1, 0, false});
  for (const double claimed : {2.000003, 1.999997, 2.000001, 1.999999})
    all.push_back({"of x * x", square, 1, claimed, std::abs(claimed - 2) < 2e-6});
  all.push_back({"of e^x", [](double x) { return std::exp(x); }, 1, std::exp(1), true});
  all.push_back({"of sin(30 x)", [](double x) { return std::sin(30 * x); }, 1, 30 * std::cos(30), true});
  for (const double claimed : std::vector<double>{NAN, INFINITY, -INFINITY})
    all.push_back({"of x * x", square, 3, claimed, false});
  const Function leap = [](double x) { return x > 3 ? INFINITY : -INFINITY; };
  all.push_back({"of a leap from -inf to inf", leap, 3, INFINITY, false});
  for (const double claimed : std::vector<double>{6, 0, NAN})
    all.push_back({"of a function that is NaN", [](double) { return double(NAN); }, 3, claimed, false});
  return all;
}

/// Checks how is_slope judges each of the claims. The sentence for the learner names the first claim that is judged
/// wrongly. A mistake of the table is recognised by its judgements of all claims.
static void check(IsSlope is_slope) {
  std::vector<double> judged;
  std::string sentence;
  for (const Claim& claim : claims()) {
    const bool accepted = is_slope(claim.f, claim.x, claim.claimed);
    judged.push_back(accepted);
    if (sentence.empty() && accepted != claim.right)
      sentence = std::string(accepted ? "You accept " : "You reject ") + printed(claim.claimed) + " as the slope " +
                 claim.name + " at " + printed(claim.x) + ".";
  }
  if (!sentence.empty()) throw Wrong(sentence, "claims", tensor(judged));
}

/// The measured slope of f at x.
static double measured(const Function& f, double x) { return (f(x + 1e-5) - f(x - 1e-5)) / 2e-5; }
static double larger(double claimed, double m) { return std::max(std::abs(claimed), std::abs(m)); }
/// The largest allowed difference between the claimed slope and the measured slope m.
static double allowed(double claimed, double m) { return 1e-6 * std::max(1.0, larger(claimed, m)); }

static const Row<IsSlope> rows[] = {
    {"signs or sizes alone",
     "It is not enough that the signs agree, or the sizes: what counts is |claimed - measured|.",
     [](const Function& f, double x, double claimed) { return (claimed > 0) == (measured(f, x) > 0); },
     [](const Function& f, double x, double claimed) {
       const double m = measured(f, x);
       return std::abs(std::abs(claimed) - std::abs(m)) < allowed(claimed, m);
     }},
    {"no absolute value",
     "You accept claims that are too small or too large. What counts is |claimed - measured|, which is never negative.",
     [](const Function& f, double x, double claimed) {
       const double m = measured(f, x);
       return claimed - m < allowed(claimed, m);
     },
     [](const Function& f, double x, double claimed) {
       const double m = measured(f, x);
       return m - claimed < allowed(claimed, m);
     }},
    {"1e-6 alone", "You reject a steep slope that is right: what is allowed has to grow with the slope's size.",
     [](const Function& f, double x, double claimed) { return std::abs(claimed - measured(f, x)) < 1e-6; }},
    {"the share alone", "You reject the slope 0: measured it is only nearly 0, so at least 1e-6 has to be allowed.",
     [](const Function& f, double x, double claimed) {
       const double m = measured(f, x);
       return std::abs(claimed - m) < 1e-6 * larger(claimed, m);
     }},
    {"another step",
     "You reject slopes that are right: measure from x - h to x + h with h = 1e-5, within which no curve bends much.",
     [](const Function& f, double x, double claimed) {
       const double m = (f(x + 1e-3) - f(x - 1e-3)) / 2e-3;
       return std::abs(claimed - m) < allowed(claimed, m);
     },
     [](const Function& f, double x, double claimed) {
       const double m = (f(x + 1e-5) - f(x)) / 1e-5;
       return std::abs(claimed - m) < allowed(claimed, m);
     }},
    {"NaN passes", "You accept NaN: every comparison with it is false. Ask whether the difference is small, not large.",
     [](const Function& f, double x, double claimed) {
       const double m = measured(f, x);
       return !(std::abs(claimed - m) >= allowed(claimed, m));
     },
     [](const Function& f, double x, double claimed) {
       const double m = measured(f, x);
       return std::isnan(m) || std::abs(claimed - m) < allowed(claimed, m);
     }},
    {"infinite passes",
     "You accept an infinite slope. What is allowed is infinite then: inf <= inf is true, inf < inf is not.",
     [](const Function& f, double x, double claimed) {
       const double m = measured(f, x);
       return std::abs(claimed - m) <= allowed(claimed, m);
     },
     [](const Function& f, double x, double claimed) {
       const double m = measured(f, x);
       return claimed == m || std::abs(claimed - m) < allowed(claimed, m);
     }},
    {"hard-coded", "You give the same answer whatever f is, or that of the example.",
     [](const Function&, double, double claimed) { return claimed == 6; },
     [](const Function&, double, double) { return true; }, [](const Function&, double, double) { return false; }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
bool is_slope(const std::function<double(double)>& f, double x, double claimed) {
  const double h = 1e-5;
  const double measured = (f(x + h) - f(x - h)) / (2 * h);
  const double allowed = 1e-6 * std::max({1.0, std::abs(claimed), std::abs(measured)});
  return std::abs(claimed - measured) < allowed;
}
}  // namespace solution
static const Right right([] { check(solution::is_slope); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(is_slope); });
}
