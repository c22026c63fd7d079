// Checks 09: columns of one size.

// hint: Axis 0 goes down a column, from row to row. Take the mean over it away first, and give that a name.
// hint: const Tensor centred = x - mean(x, {0}, true); its squares have the mean mean(centred * centred, {0}, true).
// why: With columns of one size one learning rate suits all weights: else what is loud learns fast, the rest never.
// why: Use the mean and deviation of training data for new data, too: a single example has no deviation of its own.
// why: Over each row instead of each column it is LayerNorm, which needs no other examples and so suits any batch.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Standardize = Tensor(const Tensor& x);

/// (x - mean) / root of (variance + 1e-5) over `axes`, the variance being divided by N - correction.
static Tensor normed(const Tensor& x, const Axes& axes, double correction = 0) {
  return (x - mean(x, axes, true)) / sqrt(var(x, axes, correction, true) + 1e-5);
}

static void check(Standardize standardize) {
  for (const Shape& shape : {Shape{4, 3}, {5, 2}, {3, 7}}) {
    const Tensor size = arange(1, static_cast<double>(shape[1]) + 1);
    const Tensor x = randn(shape, Generator(7)) * size + size * size;
    const Tensor got = standardize(x), centred = x - mean(x, {0}, true), variance = mean(centred * centred, {0}, true);
    expect_not(got, normed(x, {1}), "That is each row. Columns are standardized over axis 0, from row to row.");
    expect_not(got, normed(x, {0, 1}), "That is one mean and one deviation for all. Each column has its own.");
    expect_not(got, normed(x, {0}, 1), "The variance is divided by N - 1. Its mean is over N: a correction of 0.");
    expect_not(got, centred / (variance + 1e-5), "The root is forgotten: divide by the deviation, not the variance.");
    expect_not(got, centred / (sqrt(variance) + 1e-5), "1e-5 stands behind the root. Add it to the variance, inside.");
    expect_not(got, centred / sqrt(variance),
               "1e-5 is missing: a column whose numbers are all equal would give 0 / 0.");
    expect_not(got, centred / sqrt(sum(centred * centred, {0}, true) + 1e-5),
               "That is the root of the sum of squares, but the variance is their mean.");
    expect_not(got, centred, "The mean is 0 now, but columns still have different sizes: divide by the deviation.");
    // layer_norm does so with rows
    const auto want = [](const Tensor& x) { return transpose(layer_norm(transpose(x, 0, 1)), 0, 1); };
    expect_close("standardize of random x " + printed(shape), got, want(x));
    expect_close("standardize of columns of equal numbers", standardize(zeros(shape) + size), zeros(shape));
    const Tensor weights = randn(shape, Generator(8));
    expect_close("the gradient by x of your result", gradient(standardize, x, weights), gradient(want, x, weights));
    const Tensor leaf = Tensor(x.array()).requires_grad_();
    expect_by_hand(standardize(leaf), {"layer_norm", "rms_norm"});
  }
}

#ifdef PROVE
namespace solution {
Tensor standardize(const Tensor& x) {
  const Tensor centred = x - mean(x, {0}, true);
  const Tensor variance = mean(centred * centred, {0}, true);
  return centred / sqrt(variance + 1e-5);
}
}  // namespace solution

enum Mistake { no_root, behind_root, no_epsilon, only_mean, constant };
template <Mistake mistake>
static Tensor wrongly(const Tensor& x) {
  const Tensor centred = x - mean(x, {0}, true), variance = var(x, {0}, 0, true);
  if (mistake == only_mean) return centred;
  if (mistake == constant) return tensor({{-0.999995, 0}, {0.999995, 0}});
  return centred / (mistake == no_root ? variance + 1e-5 : sqrt(variance) + (mistake == behind_root ? 1e-5 : 0));
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::standardize); }},
    {"rows", "That is each row", [] { check([](const Tensor& x) { return normed(x, {1}); }); }},
    {"one mean for all", "one mean", [] { check([](const Tensor& x) {
                                            return normed(x, {0, 1});
                                          }); }},
    {"N - 1", "N - 1", [] { check([](const Tensor& x) { return normed(x, {0}, 1); }); }},
    {"root forgotten", "root is forgotten", [] { check(wrongly<no_root>); }},
    {"1e-5 behind the root", "behind the root", [] { check(wrongly<behind_root>); }},
    {"no 1e-5", "1e-5 is missing", [] { check(wrongly<no_epsilon>); }},
    {"only the mean", "divide by the deviation.", [] { check(wrongly<only_mean>); }},
    {"hard-coded", "standardize of random x", [] { check(wrongly<constant>); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(standardize); });
}
