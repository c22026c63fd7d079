// Checks 02: the gradient of a product.

// hint: z grows y times as fast as x. And y? Then multiply both by how fast L grows with z.
// hint: return {dz * y, ...}; with x in the second.
// why: Each factor's gradient is the other one, so the forward pass has to keep both factors until backward has come.
// why: A factor near 0 hides the other from the loss: what is multiplied by 0 gets no gradient and learns nothing.
// why: The rule knows only its own step; dz holds all that comes after it. So any op fits into any graph.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Gradients = std::pair<double, double>(double x, double y, double dz);

static void check(Gradients product_gradients) {
  for (const int seed : {1, 2, 3, 4}) {
    const std::vector<double> r = randn({3}, Generator(seed)).to_vector();
    const double x = seed == 4 ? 0 : r[0], y = r[1], dz = r[2];
    const auto [dx, dy] = product_gradients(x, y, dz);
    const Tensor got = tensor({dx, dy});
    expect_not(got, tensor({dz * x, dz * y}), "Swapped: when x grows by 1, x * y grows by y. Each gets the other one.");
    expect_not(got, tensor({y, x}), "dz has no effect: this is how fast z grows. L grows dz times as fast as z.");
    expect_not(got, tensor({y + dz, x + dz}),
               "dz is added, but one rate after another multiplies: that is the chain rule.");
    // L = dz * x * y is a straight line in x and in y, so that a step of 1 measures its slopes exactly
    const Tensor want = tensor({dz * (x + 1) * y - dz * x * y, dz * x * (y + 1) - dz * x * y});
    expect_close("product_gradients(" + printed(x) + ", " + printed(y) + ", " + printed(dz) + ")", got, want);
  }
}

#ifdef PROVE
namespace solution {
std::pair<double, double> product_gradients(double x, double y, double dz) { return {dz * y, dz * x}; }
}  // namespace solution

static const Tried tried[] = {
    {"solution", "", [] { check(solution::product_gradients); }},
    {"swapped", "Swapped", [] { check([](double x, double y, double dz) { return std::pair(dz * x, dz * y); }); }},
    {"dz forgotten", "dz has no effect", [] { check([](double x, double y, double) { return std::pair(y, x); }); }},
    {"added", "dz is added", [] { check([](double x, double y, double dz) { return std::pair(y + dz, x + dz); }); }},
    {"hard-coded", "product_gradients(", [] { check([](double, double, double) { return std::pair(50.0, 20.0); }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(product_gradients); });
}
