// Checks 20: the causal mask.

// hint: In row i the columns j > i are the future, so they must become -inf. Compare all i with all j at once.
// hint: unsqueeze(arange(T), 0) > unsqueeze(arange(T), 1) compares column numbers [1, T] with row numbers [T, 1].
// why: The scores are masked before softmax. If the weights were set to 0 after softmax, a row would not sum to 1.
// why: A token sees itself. Otherwise the first row would see nothing, and its softmax would divide by a sum of 0.
// why: All T rows are trained at once, each as if the text ended there. That is why a transformer trains so fast.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Causal = Tensor(const Tensor& scores);

/// A copy of `scores` in which every element (i, j) with (j - i) * sign > shift is replaced by `with`.
static Tensor filled(const Tensor& scores, double sign, double shift, double with) {
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
    expect_close("causal of random scores " + printed(scores.shape()), causal(scores), filled(scores, 1, 0, -INFINITY));
    const Tensor weights = randn({n, n}, Generator(9));
    const auto after_softmax = [](auto f) { return [f](const Tensor& x) { return softmax(f(x)); }; };
    const auto right = [n = n](const Tensor& x) { return masked_fill(x, ~causal_mask(n), -INFINITY); };
    expect_close("the gradient that scores get back through softmax", gradient(after_softmax(causal), scores, weights),
                 gradient(after_softmax(right), scores, weights));
  }
  const Tensor zero = zeros({3, 3}), high = full({3, 3}, 1e300);
  expect_close("causal of scores that are 0", causal(zero), filled(zero, 1, 0, -INFINITY));
  expect_close("causal of scores that are 1e300", causal(high), filled(high, 1, 0, -INFINITY));
}

static const Row<Causal> rows[] = {
    {"wrong way round", "The wrong way round: your rows see the future and not the past.",
     [](const Tensor& x) { return filled(x, -1, 0, -INFINITY); },
     [](const Tensor& x) { return filled(x, -1, -1, -INFINITY); }},
    {"hides itself", "A token has to see itself, but your mask hides the diagonal as well.",
     [](const Tensor& x) { return filled(x, 1, -1, -INFINITY); }},
    {"sees too far", "Shifted by one: every row sees one token of the future.",
     [](const Tensor& x) { return filled(x, 1, 1, -INFINITY); }},
    {"a number hides", "A number hides only what is not lower still, and 0 hides nothing: exp(0) is 1. -inf hides.",
     [](const Tensor& x) { return filled(x, 1, 0, -1e9); }, [](const Tensor& x) { return filled(x, 1, 0, -1e5); },
     [](const Tensor& x) { return filled(x, 1, 0, 0); },
     [](const Tensor& x) { return filled(x, 1, 0, std::numeric_limits<double>::lowest()); }},
    {"0 times infinity", "0 times infinity is NaN: write -inf where it belongs, by masked_fill.",
     [](const Tensor& x) {
       const Tensor future = filled(zeros(x.shape()), 1, 0, 1);
       return x + future * -INFINITY;
     }},
    {"hidden by value", "A score of the past that is 0 is hidden, too: hide by the place of a score, not by its value.",
     [](const Tensor& x) {
       const Tensor past = tril(x);
       return masked_fill(past, past == Tensor(0), -INFINITY);
     }},
    {"hard-coded", "The scores have no effect: what stands before a token has to keep its score.",
     [](const Tensor& x) { return filled(zeros(x.shape()), 1, 0, -INFINITY); },
     [](const Tensor&) {
       return filled(zeros({3, 3}), 1, 0, -INFINITY);
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor causal(const Tensor& scores) {
  const Tensor position = arange(static_cast<double>(scores.size(0)));
  const Mask future = unsqueeze(position, 0) > unsqueeze(position, 1);
  return masked_fill(scores, future, -std::numeric_limits<double>::infinity());
}
}  // namespace solution
static Tensor added(const Tensor& x) { return x + filled(zeros(x.shape()), 1, 0, -INFINITY); }
static const Right right([] { check(solution::causal); }, [] { check(added); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(causal); }, YOURS, {"causal_mask"});
}
