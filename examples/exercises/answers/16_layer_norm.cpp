// Checks 16: layer norm.

// hint: First compute the distances from the mean, x - mean(x, {-1}, true). The variance is the mean of their squares.
// hint: Let d be these distances. Return d / sqrt(mean(d * d, {-1}, true) + 1e-5) * w + b.
// why: x * 10 and x + 100 give nearly the same result as x. So the next part sees numbers of one size at any depth.
// why: A vector of equal numbers has the variance 0. With the 1e-5 the result is b, and without it 0 / 0, which is NaN.
// why: Each vector is normed by itself, so the result for a token depends neither on the batch nor on later tokens.
#include "examples/exercises/answers/check.h"

namespace of_check {
using LayerNormOf = Tensor(const Tensor& x, const Tensor& w, const Tensor& b);

static Tensor motes(const Tensor& x, const Tensor& w, const Tensor& b) { return layer_norm(x, w, b); }

static void check(LayerNormOf my_layer_norm) {
  for (const Shape& shape : {Shape{4, 6}, Shape{2, 3, 5}, Shape{7}, Shape{3, 1}}) {
    const Tensor x = randn(shape, Generator(7)) * 2 + 1, w = randn({shape[-1]}, Generator(8)) + 1;
    const Tensor b = randn({shape[-1]}, Generator(9)), dy = randn(shape, Generator(10));
    expect_close("my_layer_norm of random x " + printed(shape), my_layer_norm(x, w, b), motes(x, w, b));
    expect_by_hand(my_layer_norm(Tensor(x.array()).requires_grad_(), w, b), {"layer_norm", "rms_norm"});
    for (const char of : {'x', 'w', 'b'}) {
      const auto to = [&](LayerNormOf f) {
        const auto y = [&](const Tensor& t) { return f(of == 'x' ? t : x, of == 'w' ? t : w, of == 'b' ? t : b); };
        return gradient(y, of == 'x' ? x : of == 'w' ? w : b, dy);
      };
      expect_close(std::string("the gradient of ") + of, to(my_layer_norm), to(motes));
    }
  }
  const Tensor b = tensor({1, 2, 3, 4}), one = ones({4});
  expect_close("my_layer_norm of a row of ones", my_layer_norm(ones({1, 4}), one, b), reshape(b, {1, 4}));
  const Tensor near = view(arange(12), {3, 4}) / 4, far = near + 134217728;  // these numbers and their sums are exact
  expect(close(my_layer_norm(far, one, b), motes(near, one, b)), "mean of squares");
}

/// Layer norm over `axes`, in which x - mean is divided by divisor(variance).
template <auto divisor>
static Tensor divided(const Tensor& x, const Tensor& w, const Tensor& b, const Axes& axes = -1, double correction = 0) {
  return (x - mean(x, axes, true)) / divisor(var(x, axes, correction, true)) * w + b;
}
static Tensor root(const Tensor& variance) { return sqrt(variance + 1e-5); }

static const Row<LayerNormOf> rows[] = {
    {"another axis",
     "Mean and variance are those of each vector alone, over axis -1. Axis 1 is the last axis of a matrix only.",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return divided<root>(x, w, b, 0); },
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return divided<root>(x, w, b, 1); },
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return divided<root>(x, w, b, {}); }},
    {"C - 1", "Your variance is divided by C - 1, as var() does unless told otherwise: here it is C.",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return divided<root>(x, w, b, -1, 1); }},
    {"another divisor", "The divisor is sqrt(variance + 1e-5): it has a root, and 1e-5 stands inside of it.",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return divided<[](const Tensor& v) { return v + 1e-5; }>(x, w, b);
     },
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return divided<[](const Tensor& v) { return sqrt(v); }>(x, w, b);
     },
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       return divided<[](const Tensor& v) { return sqrt(v) + 1e-5; }>(x, w, b);
     }},
    {"mean stays", "The mean is not taken away: without that it is the RMSNorm.",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return rms_norm(x, w) + b; }},
    {"w or b forgotten", "What is normed is multiplied by w, and then b is added: w or b is missing or misplaced.",
     [](const Tensor& x, const Tensor&, const Tensor&) { return layer_norm(x); },
     [](const Tensor& x, const Tensor& w, const Tensor&) { return layer_norm(x, w); },
     [](const Tensor& x, const Tensor&, const Tensor& b) { return layer_norm(x) + b; },
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return layer_norm(x, b, w); }},
    {"w + b in brackets", "b is multiplied, too: multiply by w first, without brackets around w + b.",
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return layer_norm(x) * (w + b); },
     [](const Tensor& x, const Tensor& w, const Tensor& b) { return (layer_norm(x) + b) * w; }},
    {"mean of squares",
     "Far from 0 your variance is a small difference of two large numbers, and loses its digits. Square what is left "
     "once the mean is taken away.",
     [](const Tensor& x, const Tensor& w, const Tensor& b) {
       const Tensor m = mean(x, {-1}, true);
       return (x - m) / sqrt(mean(x * x, {-1}, true) - m * m + 1e-5) * w + b;
     }},
    {"hard-coded", of_example,
     [](const Tensor&, const Tensor&, const Tensor&) {
       return tensor({-1, 12});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor my_layer_norm(const Tensor& x, const Tensor& w, const Tensor& b) {
  const Tensor distance = x - mean(x, {-1}, true);
  const Tensor variance = mean(distance * distance, {-1}, true);
  return distance / sqrt(variance + 1e-5) * w + b;
}
}  // namespace solution
static const Right right([] { check(solution::my_layer_norm); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_layer_norm); });
}
