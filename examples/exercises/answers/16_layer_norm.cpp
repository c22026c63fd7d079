// Checks 16: layer norm.

// hint: First the distances from the mean, x - mean(x, {-1}, true): the variance is the mean of their squares.
// hint: With d for these distances: d / sqrt(mean(d * d, {-1}, true) + 1e-5) * w + b.
// why: Ten times as large or 100 more, the next part sees the same numbers; so depth does no harm to sizes.
// why: A vector of equal numbers has the variance 0: with 1e-5 it becomes b, without it 0 / 0.
// why: Each vector by itself: what a token gets does not depend on the batch, nor on tokens after it.
#include "examples/exercises/answers/check.h"

namespace of_check {
using LayerNormOf = Tensor(const Tensor& x, const Tensor& w, const Tensor& b);
enum Mistake { over_batch, axis_1, every, unbiased, no_root, eps_outside, no_eps, no_mean, swapped, constant };

static Tensor wrongly(Mistake mistake, const Tensor& x, const Tensor& w, const Tensor& b) {
  if (mistake == constant) return tensor({-1, 12});
  if (mistake == swapped) return layer_norm(x, b, w);
  if (mistake == no_mean) return rms_norm(x, w) + b;
  const Axes axes = mistake == every ? Axes() : Axes(mistake == over_batch ? 0 : mistake == axis_1 ? 1 : -1);
  const Tensor d = x - mean(x, axes, true), v = var(x, axes, mistake == unbiased ? 1 : 0, true);
  if (mistake == no_root) return d / (v + 1e-5) * w + b;
  if (mistake == eps_outside) return d / (sqrt(v) + 1e-5) * w + b;
  return d / sqrt(mistake == no_eps ? v : v + 1e-5) * w + b;
}

static void check(LayerNormOf my_layer_norm) {
  for (const Shape& shape : {Shape{4, 6}, Shape{2, 3, 5}, Shape{7}, Shape{3, 1}}) {
    const Tensor x = randn(shape, Generator(7)) * 2 + 1, w = randn({shape[-1]}, Generator(8)) + 1;
    const Tensor b = randn({shape[-1]}, Generator(9)), dy = randn(shape, Generator(10)), got = my_layer_norm(x, w, b);
    const auto expect_no = [&](Mistake mistake, const std::string& sentence) {
      if (shape.rank() == (mistake == axis_1 ? 3 : 2) && shape[-1] > 1)
        expect_not(got, wrongly(mistake, x, w, b), sentence);
    };
    expect_no(over_batch, "You norm the columns, over the batch: mean and variance are those of each row, axis -1.");
    expect_no(axis_1, "Axis 1 is the last one of a matrix alone, but x may have more axes: -1 is always the last.");
    expect_no(every, "One mean and one variance of everything: every row has its own, over axis -1.");
    expect_no(unbiased, "Your variance is divided by C - 1, as var() does unless told otherwise: here it is C.");
    expect_no(no_root, "You divide by the variance: it is its root, sqrt, that has the size of the numbers.");
    expect_no(eps_outside, "1e-5 stands outside of the root: it is added to the variance, before sqrt.");
    expect_no(no_eps, "1e-5 is missing: a row of equal numbers would become 0 / 0.");
    expect_no(no_mean, "The mean is not taken away: without that it is the RMSNorm.");
    expect_no(swapped, "w and b are swapped: w multiplies, b is added.");
    expect_not(got, layer_norm(x), "w and b are missing: what is normed is multiplied by w, and b is added.");
    expect_not(got, layer_norm(x, w), "b is missing.");
    if (shape[-1] > 1) expect_not(got, layer_norm(x) + b, "w is missing: it multiplies what is normed.");
    expect_close("my_layer_norm of random x " + printed(shape), got, layer_norm(x, w, b));
    expect_by_hand(my_layer_norm(Tensor(x.array()).requires_grad_(), w, b), {"layer_norm", "rms_norm"});
    for (const char of : {'x', 'w', 'b'}) {
      const auto to = [&](LayerNormOf f) {
        const auto y = [&](const Tensor& t) { return f(of == 'x' ? t : x, of == 'w' ? t : w, of == 'b' ? t : b); };
        return gradient(y, of == 'x' ? x : of == 'w' ? w : b, dy);
      };
      const auto motes = [](const Tensor& x, const Tensor& w, const Tensor& b) { return layer_norm(x, w, b); };
      expect_close(std::string("the gradient of ") + of, to(my_layer_norm), to(motes));
    }
  }
  const Tensor b = tensor({1, 2, 3});
  expect_close("my_layer_norm of a row of ones", my_layer_norm(ones({1, 3}), ones({3}), b), reshape(b, {1, 3}));
}

#ifdef PROVE
namespace solution {
Tensor my_layer_norm(const Tensor& x, const Tensor& w, const Tensor& b) {
  const Tensor distance = x - mean(x, {-1}, true);
  const Tensor variance = mean(distance * distance, {-1}, true);
  return distance / sqrt(variance + 1e-5) * w + b;
}
}  // namespace solution

template <Mistake mistake>
static void with() {
  check([](const Tensor& x, const Tensor& w, const Tensor& b) { return wrongly(mistake, x, w, b); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::my_layer_norm); }},
    {"over the batch", "over the batch", with<over_batch>},
    {"axis 1", "Axis 1 is the last one", with<axis_1>},
    {"over everything", "of everything", with<every>},
    {"unbiased", "C - 1", with<unbiased>},
    {"no root", "divide by the variance", with<no_root>},
    {"eps outside", "outside of the root", with<eps_outside>},
    {"eps forgotten", "1e-5 is missing", with<no_eps>},
    {"mean stays", "it is the RMSNorm", with<no_mean>},
    {"neither", "w and b are missing",
     [] { check([](const Tensor& x, const Tensor&, const Tensor&) { return layer_norm(x); }); }},
    {"without b", "missing.",
     [] { check([](const Tensor& x, const Tensor& w, const Tensor&) { return layer_norm(x, w); }); }},
    {"without w", "w is missing",
     [] { check([](const Tensor& x, const Tensor&, const Tensor& b) { return layer_norm(x) + b; }); }},
    {"swapped", "w and b are swapped", with<swapped>},
    {"hard-coded", "my_layer_norm of random x", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_layer_norm); });
}
