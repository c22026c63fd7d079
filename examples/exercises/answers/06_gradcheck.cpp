// Checks 06: is this slope right?

// hint: Measure first. Then the answer is a comparison of two numbers: return difference < allowed;
// hint: std::abs(claimed - measured) < 1e-6 * std::max({1.0, std::abs(claimed), std::abs(measured)})
// why: A double has 16 digits, of whatever size the number is: so errors of measuring grow with what is measured.
// why: It needs no right answer to compare with, only f itself: so it finds mistakes in rules nobody has seen before.
// why: Comparisons with NaN are false, so a test should ask "is it good?": "is it bad?" would let NaN pass.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Function = std::function<double(double)>;
using IsSlope = bool(const Function& f, double x, double claimed);

static void check(IsSlope is_slope) {
  for (const int seed : {1, 2, 3}) {
    const std::vector<double> r = randn({2}, Generator(seed)).to_vector();
    const double x = std::abs(r[0]), s = 2 * x + 1;  // above 0: forgetting || shows on one side
    const Function f = [](double x) { return x * x + x; };
    const std::string of = " of x * x + x at " + printed(x);
    expect(is_slope(f, x, s), "You reject a right claim, the slope " + printed(s) + of + ". Measuring is never exact.");
    const bool opposite = is_slope(f, x, -s), twice = is_slope(f, x, 2 * s), half = is_slope(f, x, s / 2);
    expect(!(opposite && twice && half), "You accept every claim, also half, twice and minus the slope.");
    expect(!(twice && half), "You accept half and twice the slope: it is not enough that the signs agree.");
    expect(!opposite || half, "You accept minus the slope: it is not enough that the sizes agree.");
    expect(!half,
           "You accept claims that are too small. What counts is |claimed - measured|, which is never negative.");
    expect(!twice,
           "You accept claims that are too large. What counts is |claimed - measured|, which is never negative.");
    for (const double factor : {0.999, 1.001})
      expect(!is_slope(f, x, factor * s), "You accept a claim that is wrong by one part in a thousand" + of +
                                              ". (Is it std::abs? Plain abs may drop what is behind the point.)");
    for (const double size : {1e9, -1e9}) {
      const Function steep = [&](double x) { return size * std::sin(x); };
      const std::string near = "a claim near " + printed(size * std::cos(r[1]));
      expect(is_slope(steep, r[1], size * std::cos(r[1])),
             "You reject " + near + " that is right: what is allowed has to grow with the slope's size.");
      for (const double factor : {0.99, 1.01})
        expect(!is_slope(steep, r[1], factor * size * std::cos(r[1])), "You accept " + near + " that is wrong by 1 %.");
    }
  }
  expect(is_slope([](double x) { return x * x * x / 10; }, 0, 0),
         "You reject the slope 0 of x * x * x / 10 at 0: measured it is nearly 0, so at least 1e-6 has to be allowed.");
  expect(!is_slope([](double x) { return x / 1000; }, 1, 0), "You accept the slope 0 of x / 1000, which is 0.001.");
  for (const double claimed : {2.000003, 1.999997})
    expect(!is_slope([](double x) { return x * x; }, 1, claimed),
           "You accept 2 +- 0.000003 for 2: 1e-6 of it may differ.");
  for (const double claimed : {2.000001, 1.999999})
    expect(is_slope([](double x) { return x * x; }, 1, claimed),
           "You reject 2 +- 0.000001 for 2: 1e-6 of it may differ.");
  expect(is_slope([](double x) { return std::exp(x); }, 1, std::exp(1)), "You reject e for exp at 1: is your h 1e-5?");
  expect(!is_slope([](double x) { return x * x; }, 3, std::nan("")),
         "You accept NaN: every comparison with it is false. Ask whether the difference is small, not whether it is "
         "large.");
  expect(!is_slope([](double) { return std::nan(""); }, 3, 6), "You accept 6 where f is NaN, and has no slope.");
  for (const double infinite : {INFINITY, -INFINITY})
    expect(!is_slope([](double x) { return x * x; }, 3, infinite),
           "You accept an infinite slope: what is allowed is infinite then, and inf <= inf, but not inf < inf.");
}

#ifdef PROVE
namespace solution {
bool is_slope(const std::function<double(double)>& f, double x, double claimed) {
  const double h = 1e-5;
  const double measured = (f(x + h) - f(x - h)) / (2 * h);
  const double allowed = 1e-6 * std::max({1.0, std::abs(claimed), std::abs(measured)});
  return std::abs(claimed - measured) < allowed;
}
}  // namespace solution

enum Mistake {
  always,
  by_sign,
  by_size,
  no_abs,
  other_no_abs,
  absolute,
  relative,
  too_much,
  too_little,
  nan_passes,
  no_f_passes,
  infinite_passes,
  constant
};
template <Mistake mistake>
static bool wrongly(const Function& f, double x, double claimed) {
  const double h = 1e-5, measured = (f(x + h) - f(x - h)) / (2 * h), difference = claimed - measured;
  const double large = std::max(std::abs(claimed), std::abs(measured));
  const double share = mistake == too_much ? 3e-6 : mistake == too_little ? 1e-7 : 1e-6;
  const double allowed = share * (mistake == absolute ? 1 : mistake == relative ? large : std::max(1.0, large));
  if (mistake == always || mistake == constant) return mistake == always || claimed == 6;
  if (mistake == by_sign) return (claimed > 0) == (measured > 0);
  if (mistake == by_size) return std::abs(std::abs(claimed) - std::abs(measured)) < allowed;
  if (mistake == no_abs || mistake == other_no_abs) return (mistake == no_abs ? difference : -difference) < allowed;
  if (mistake == infinite_passes && std::isinf(claimed)) return std::abs(difference) <= allowed;
  if (mistake == no_f_passes && std::isnan(measured)) return true;
  return mistake == nan_passes ? !(std::abs(difference) > allowed) : std::abs(difference) < allowed;
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::is_slope); }},
    {"always true", "every claim", [] { check(wrongly<always>); }},
    {"sign only", "the signs agree", [] { check(wrongly<by_sign>); }},
    {"size only", "the sizes agree", [] { check(wrongly<by_size>); }},
    {"no absolute value", "too small", [] { check(wrongly<no_abs>); }},
    {"nor the other way", "too large", [] { check(wrongly<other_no_abs>); }},
    {"absolute tolerance", "that is right: ", [] { check(wrongly<absolute>); }},
    {"relative tolerance", "You reject the slope 0", [] { check(wrongly<relative>); }},
    {"infinite passes", "an infinite slope", [] { check(wrongly<infinite_passes>); }},
    {"3e-6 allowed", "You accept 2 +-", [] { check(wrongly<too_much>); }},
    {"1e-7 allowed", "You reject 2 +-", [] { check(wrongly<too_little>); }},
    {"NaN of f passes", "where f is NaN", [] { check(wrongly<no_f_passes>); }},
    {"NaN passes", "You accept NaN", [] { check(wrongly<nan_passes>); }},
    {"hard-coded", "You reject a right claim, the slope", [] { check(wrongly<constant>); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(is_slope); });
}
