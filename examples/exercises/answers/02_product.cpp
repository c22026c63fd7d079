// Checks 02: the gradient of a product.

// hint: When x grows by 1, z grows by y. By how much does z grow when y grows by 1? Multiply both rates by dz.
// hint: return {dz * y, ...}; The second number contains x.
// why: The gradient of each factor contains the other factor, so forward has to keep both factors for backward.
// why: If one factor is near 0, the other factor gets hardly any gradient and so learns hardly anything.
// why: The rule needs to know only its own step, because dz contains the effect of all later steps.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Gradients = std::pair<double, double>(double x, double y, double dz);

static void check(Gradients product_gradients) {
  std::vector<std::vector<double>> all{{0, 2, 3}, {2, 0, 3}, {2, 3, 0}, {0, 0, 3}, {1e9, -3, 2}, {3, 1e300, -2}};
  for (const int seed : {3, 2, 1}) all.insert(all.begin(), randn({3}, Generator(seed)).to_vector());
  for (const std::vector<double>& r : all) {
    const double x = r[0], y = r[1], dz = r[2];
    const auto [dx, dy] = product_gradients(x, y, dz);
    expect_close("product_gradients(" + printed(x) + ", " + printed(y) + ", " + printed(dz) + ")", tensor({dx, dy}),
                 tensor({dz * y, dz * x}));
  }
}

static const Row<Gradients> rows[] = {
    {"swapped", "Swapped: when x grows by 1, x * y grows by y. Each gets the other one.",
     [](double x, double y, double dz) { return std::pair(dz * x, dz * y); }},
    {"dz forgotten", "dz has no effect: this is how fast z grows. L grows dz times as fast as z.",
     [](double x, double y, double) { return std::pair(y, x); }},
    {"dz added", "dz is added, but one rate after another multiplies: that is the chain rule.",
     [](double x, double y, double dz) { return std::pair(y + dz, x + dz); }},
    {"dz in one alone", "One of the two has no dz: both rates are multiplied by it.",
     [](double x, double y, double dz) { return std::pair(dz * y, x); },
     [](double x, double y, double dz) { return std::pair(y, dz * x); }},
    {"the product", "That is z itself, times dz: the rate of x lacks x, and the rate of y lacks y.",
     [](double x, double y, double dz) { return std::pair(x * y * dz, x * y * dz); }},
    {"divided", "Where x or y is 0 you divide 0 by 0: the rate of x is dz * y, without a division.",
     [](double x, double y, double dz) { return std::pair(x * y * dz / x, x * y * dz / y); },
     [](double x, double y, double dz) { return std::pair(x * y * dz / x, dz * x); },
     [](double x, double y, double dz) { return std::pair(dz * y, x * y * dz / y); }},
    {"measured", "You measure a difference, which loses its digits beside large numbers: the rate of x is dz * y.",
     [](double x, double y, double dz) { return std::pair(dz * ((x + 1) * y - x * y), dz * (x * (y + 1) - x * y)); }},
    {"hard-coded", of_example, [](double, double, double) { return std::pair(50.0, 20.0); }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
std::pair<double, double> product_gradients(double x, double y, double dz) { return {dz * y, dz * x}; }
}  // namespace solution
static const Right right([] { check(solution::product_gradients); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(product_gradients); });
}
