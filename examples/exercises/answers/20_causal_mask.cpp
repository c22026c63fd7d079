// Checks 20: the causal mask.

// hint: Which columns j has row i to lose? Those of the future, j > i. Write that comparison for all i and j at once.
// hint: unsqueeze(arange(T), 0) > unsqueeze(arange(T), 1) compares columns, a row [1, T], with rows [T, 1].
// why: Minus infinity before softmax and not 0 after it: so the weights that are left sum to 1.
// why: The token itself stays, or the first row would have nothing to look at, and softmax nothing to divide by.
// why: All T rows are trained at once, each as if the text ended there: that is why a transformer trains so fast.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Causal = Tensor(const Tensor& scores);
static const double inf = std::numeric_limits<double>::infinity();

/// The elements (i, j) with (j - i) * sign > shift become `with`.
static Tensor fill(const Tensor& scores, double sign, double shift, double with) {
  const Index n = scores.size(0);
  std::vector<real> y = scores.to_vector();
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j < n; ++j)
      if (static_cast<double>(j - i) * sign > shift) y[i * n + j] = with;
  return Array({n, n}, y);
}

static void check(Causal causal) {
  for (const Index n : {3, 6, 1}) {
    const Tensor scores = randn({n, n}, Generator(n));
    const Tensor got = causal(scores), want = fill(scores, 1, 0, -inf);
    if (n > 1) {
      expect_not(got, fill(scores, -1, 0, -inf), "The wrong way round: your rows see the future and not the past.");
      expect_not(got, fill(scores, 1, -1, -inf), "A token has to see itself, but your mask hides the diagonal, too.");
      expect_not(got, fill(scores, 1, 1, -inf), "Shifted by one: every row sees one token of the future.");
      const double low = got.dim() == 2 ? got.array().at({0, -1}) : 0;
      expect(low > -50 || std::isinf(low), printed(low) + " hides only what is not lower still: minus infinity does.");
      expect_not(got, fill(scores, 1, 0, 0), "0 hides nothing: exp(0) is 1, so softmax gives it weight. -inf does.");
    }
    expect_close("causal of random scores " + printed(scores.shape()), got, want);
    const Tensor weights = randn({n, n}, Generator(9));
    const auto after_softmax = [](auto f) { return [f](const Tensor& x) { return softmax(f(x)); }; };
    const auto right = [n = n](const Tensor& x) { return masked_fill(x, ~causal_mask(n), -inf); };
    expect_close("the gradient that scores get back through softmax", gradient(after_softmax(causal), scores, weights),
                 gradient(after_softmax(right), scores, weights));
  }
}

#ifdef PROVE
namespace solution {
Tensor causal(const Tensor& scores) {
  const Tensor position = arange(static_cast<double>(scores.size(0)));
  const Mask future = unsqueeze(position, 0) > unsqueeze(position, 1);
  return masked_fill(scores, future, -std::numeric_limits<double>::infinity());
}
}  // namespace solution

static const Tried tried[] = {
    {"solution", "", [] { check(solution::causal); }},
    {"added", "", [] { check([](const Tensor& x) { return x + Tensor(fill(zeros(x.shape()), 1, 0, -inf)); }); }},
    {"wrong way", "wrong way round", [] { check([](const Tensor& x) { return fill(x, -1, 0, -inf); }); }},
    {"hides itself", "see itself", [] { check([](const Tensor& x) { return fill(x, 1, -1, -inf); }); }},
    {"sees too far", "Shifted by one", [] { check([](const Tensor& x) { return fill(x, 1, 1, -inf); }); }},
    {"-1e9", "what is not lower", [] { check([](const Tensor& x) { return fill(x, 1, 0, -1e9); }); }},
    {"fills with 0", "0 hides nothing", [] { check([](const Tensor& x) { return fill(x, 1, 0, 0); }); }},
    {"hard-coded", "random scores",
     [] { check([](const Tensor&) {
            return tensor({{0, -inf, -inf}, {0, 0, -inf}, {0, 0, 0}});
          }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(causal); }, YOURS, {"causal_mask"});
}
