// Checks 13: a linear layer's formula.

// hint: matmul(x, ...) needs a matrix [in, out], but W is [out, in]. Which function swaps two axes?
// hint: matmul(x, transpose(W, 0, 1)) is [..., out], and b [out] is added to every vector of it by a plain +.
// why: In W [out, in] all weights of one output lie side by side in memory. PyTorch and its files use this layout, too.
// why: With x on the left, the product changes only the last axis of x. The axes in front, batch and token, stay.
// why: Without b the result for an x of zeros could only be zeros.
#include "examples/exercises/answers/check.h"

namespace of_check {
using MyLinear = Tensor(const Tensor& x, const Tensor& W, const Tensor& b);

static Tensor motes(const Tensor& x, const Tensor& W, const Tensor& b) { return linear(x, W, b); }

static void check(MyLinear my_linear) {
  const std::pair<Shape, Index> cases[] = {{{3, 3}, 3}, {{5, 4}, 3}, {{2, 5, 4}, 3}, {{4}, 6}, {{2, 1}, 1}};
  for (const auto& [shape, out] : cases) {
    const Tensor x = randn(shape, Generator(7)), W = randn({out, x.size(-1)}, Generator(8));
    const Tensor b = randn({out}, Generator(9)) + 1, want = motes(x, W, b), dy = randn(want.shape(), Generator(10));
    expect_close("my_linear of random x " + printed(shape) + " and W " + printed(W.shape()), my_linear(x, W, b), want);
    expect_by_hand(my_linear(x, Tensor(W.array()).requires_grad_(), b), {"linear", "gelu_linear"});
    for (const char of : {'x', 'W', 'b'}) {
      const auto to = [&](MyLinear f) {
        const auto y = [&](const Tensor& t) { return f(of == 'x' ? t : x, of == 'W' ? t : W, of == 'b' ? t : b); };
        return gradient(y, of == 'x' ? x : of == 'W' ? W : b, dy);
      };
      expect_close(std::string("the gradient of ") + of, to(my_linear), to(motes));
    }
  }
}

static const Row<MyLinear> rows[] = {
    {"not transposed", "W is not transposed: output j takes row j of W. (reshape does not do it: it moves nothing.)",
     [](const Tensor& x, const Tensor& W, const Tensor& b) { return matmul(x, W) + b; }},
    {"W x", "W stands on the left and works on x's columns: it is x W^T, each vector of x with W's rows.",
     [](const Tensor& x, const Tensor& W, const Tensor& b) { return matmul(W, x) + b; }},
    {"W x^T", "Your result is transposed, W x^T: a vector of x should give a row of y, so x comes first.",
     [](const Tensor& x, const Tensor& W, const Tensor& b) { return matmul(W, transpose(x, 0, 1)) + unsqueeze(b, 1); },
     [](const Tensor& x, const Tensor& W, const Tensor& b) { return matmul(W, transpose(x, 0, 1)) + b; }},
    {"no bias", "The product is right, but b is missing.",
     [](const Tensor& x, const Tensor& W, const Tensor&) { return matmul(x, transpose(W, 0, 1)); }},
    {"bias down", "b goes down the wrong axis: b_j belongs to output j, which is the last axis of y.",
     [](const Tensor& x, const Tensor& W, const Tensor& b) { return matmul(x, transpose(W, 0, 1)) + unsqueeze(b, 1); }},
    {"detached", "No gradient reaches an argument: compute from all three and detach nothing.",
     [](const Tensor& x, const Tensor& W, const Tensor& b) { return matmul(x, transpose(W.detach(), 0, 1)) + b; }},
    {"mote's own", "this calls mote's own linear: write it yourself, of simpler ops.", motes},
    {"hard-coded", of_example,
     [](const Tensor&, const Tensor&, const Tensor&) {
       return tensor({11, 23, 36});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor my_linear(const Tensor& x, const Tensor& W, const Tensor& b) { return matmul(x, transpose(W, 0, 1)) + b; }
}  // namespace solution
static const Right right([] { check(solution::my_linear); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_linear); });
}
