// Checks 09: columns of one size.

// hint: Axis 0 goes down a column, from row to row. First subtract the mean over axis 0, and give the result a name.
// hint: const Tensor centred = x - mean(x, {0}, true); and the variance is mean(centred * centred, {0}, true).
// why: One learning rate suits all weights only if all columns have one size. Otherwise small columns learn too slowly.
// why: Use the training data's mean and deviation for new data, too, because a single example has no deviation.
// why: The same over each row is LayerNorm. LayerNorm needs no other examples, so it works in a batch of any size.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Standardize = Tensor(const Tensor& x);

static void check(Standardize standardize) {
  // layer_norm standardizes rows, so x is transposed before and after it
  const auto want = [](const Tensor& x) { return transpose(layer_norm(transpose(x, 0, 1)), 0, 1); };
  for (const Shape& shape : {Shape{4, 3}, {5, 2}, {3, 7}, {1, 2}}) {
    const Tensor size = arange(1, static_cast<double>(shape[1]) + 1);
    const Tensor x = randn(shape, Generator(7)) * size + size * size;
    expect_close("standardize of random x " + printed(shape), standardize(x), want(x));
    expect_close("standardize of columns of equal numbers", standardize(zeros(shape) + size), zeros(shape));
    const Tensor weights = randn(shape, Generator(8));
    expect_close("the gradient by x of your result", gradient(standardize, x, weights), gradient(want, x, weights));
    const Tensor leaf = Tensor(x.array()).requires_grad_();
    expect_by_hand(standardize(leaf), {"layer_norm", "rms_norm"});
  }
  const Tensor near = view(arange(12), {4, 3}) / 4, far = near + 134217728;  // these numbers and their sums are exact
  expect(close(standardize(far), want(near)), "mean of squares");
}

static Tensor centred(const Tensor& x) { return x - mean(x, {0}, true); }

static const Row<Standardize> rows[] = {
    {"rows", "That is each row. Columns are standardized over axis 0, from row to row.",
     [](const Tensor& x) { return layer_norm(x); }},
    {"one mean for all", "That is one mean and one deviation for all. Each column has its own.",
     [](const Tensor& x) { return (x - mean(x)) / sqrt(var(x, {}, 0) + 1e-5); }},
    {"N - 1", "The variance is divided by N - 1. Its mean is over N: a correction of 0.",
     [](const Tensor& x) { return centred(x) / sqrt(var(x, {0}, 1, true) + 1e-5); }},
    {"root forgotten", "The root is forgotten: divide by the deviation, not the variance.",
     [](const Tensor& x) { return centred(x) / (var(x, {0}, 0, true) + 1e-5); }},
    {"no 1e-5", "1e-5 is added to the variance, inside the root. Without it equal numbers give 0 / 0.",
     [](const Tensor& x) { return centred(x) / sqrt(var(x, {0}, 0, true)); },
     [](const Tensor& x) { return centred(x) / (sqrt(var(x, {0}, 0, true)) + 1e-5); }},
    {"only the mean", "The mean is 0 now, but columns still have different sizes: divide by the deviation.",
     [](const Tensor& x) { return centred(x); }},
    {"mean of squares",
     "Far from 0 your variance is a small difference of two large numbers, and loses its digits. Square what "
     "is left once the mean is taken away.",
     [](const Tensor& x) {
       const Tensor m = mean(x, {0}, true);
       return (x - m) / sqrt(mean(x * x, {0}, true) - m * m + 1e-5);
     }},
    {"hard-coded", of_example,
     [](const Tensor&) {
       return tensor({{-0.999995, 0}, {0.999995, 0}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor standardize(const Tensor& x) {
  const Tensor centred = x - mean(x, {0}, true);
  const Tensor variance = mean(centred * centred, {0}, true);
  return centred / sqrt(variance + 1e-5);
}
}  // namespace solution
static const Right right([] { check(solution::standardize); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(standardize); });
}
