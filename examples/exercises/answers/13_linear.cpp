// Checks 13: a linear layer's formula.

// hint: matmul(x, ...) needs a right side whose first extent is in. W [out, in] has it last: what turns W around?
// hint: matmul(x, transpose(W, 0, 1)) is [..., out], and b [out] is added to every vector of it by a plain +.
// why: As [out, in] all weights of one output lie side by side in memory; PyTorch and its files keep them so, too.
// why: Batch and token are the first axes of x: as x stands on the left, a product only touches its last axis.
// why: Without b an x of zeros could only give zeros.
#include "examples/exercises/answers/check.h"

namespace of_check {
using MyLinear = Tensor(const Tensor& x, const Tensor& W, const Tensor& b);
enum Mistake { untransposed, from_left, turned, no_bias, bias_down, constant };

/// y with a mistake: all of them run where x and W are square.
static Tensor wrongly(Mistake mistake, const Tensor& x, const Tensor& W, const Tensor& b) {
  if (mistake == constant) return tensor({11, 23, 36});
  if (mistake == untransposed) return matmul(x, W) + b;
  if (mistake == from_left) return matmul(W, x) + b;
  if (mistake == turned) return matmul(W, transpose(x, 0, 1)) + unsqueeze(b, 1);
  const Tensor y = matmul(x, transpose(W, 0, 1));
  return mistake == no_bias ? y : mistake == bias_down ? y + unsqueeze(b, 1) : y + b;
}

static void check(MyLinear my_linear) {
  const std::pair<Shape, Index> cases[] = {{{3, 3}, 3}, {{5, 4}, 3}, {{2, 5, 4}, 3}, {{4}, 6}, {{2, 1}, 1}};
  for (const auto& [shape, out] : cases) {
    const Tensor x = randn(shape, Generator(7)), W = randn({out, x.size(-1)}, Generator(8));
    const Tensor b = randn({out}, Generator(9)) + 1, want = linear(x, W, b), dy = randn(want.shape(), Generator(10));
    const Tensor got = my_linear(x, W, b);
    const auto expect_no = [&](Mistake mistake, const std::string& sentence) {
      if (x.shape() == W.shape()) expect_not(got, wrongly(mistake, x, W, b), sentence);
    };
    expect_no(untransposed,
              "W is not transposed: output j takes row j of W. (reshape does not do it: it moves nothing.)");
    expect_no(from_left, "W stands on the left and works on x's columns: it is x W^T, each vector of x with W's rows.");
    expect_no(turned, "Your result is transposed, W x^T: a vector of x should give a row of y, so x comes first.");
    expect_no(no_bias, "The product is right, but b is missing.");
    expect_no(bias_down, "b goes down the wrong axis: b_j belongs to output j, which is the last axis of y.");
    expect_close("my_linear of random x " + printed(shape) + " and W " + printed(W.shape()), got, want);
    expect_by_hand(my_linear(x, Tensor(W.array()).requires_grad_(), b), {"linear", "gelu_linear"});
    for (const char of : {'x', 'W', 'b'}) {
      const auto to = [&](MyLinear f) {
        const auto y = [&](const Tensor& t) { return f(of == 'x' ? t : x, of == 'W' ? t : W, of == 'b' ? t : b); };
        return gradient(y, of == 'x' ? x : of == 'W' ? W : b, dy);
      };
      expect_close(std::string("the gradient of ") + of, to(my_linear), to(linear));
    }
  }
}

#ifdef PROVE
namespace solution {
Tensor my_linear(const Tensor& x, const Tensor& W, const Tensor& b) { return matmul(x, transpose(W, 0, 1)) + b; }
}  // namespace solution

template <Mistake mistake>
static void with() {
  check([](const Tensor& x, const Tensor& W, const Tensor& b) { return wrongly(mistake, x, W, b); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::my_linear); }},
    {"not transposed", "W is not transposed", with<untransposed>},
    {"W x", "W stands on the left", with<from_left>},
    {"W x^T", "Your result is transposed", with<turned>},
    {"bias forgotten", "b is missing", with<no_bias>},
    {"bias down", "b goes down the wrong axis", with<bias_down>},
    {"mote's own", "mote's own linear",
     [] { check([](const Tensor& x, const Tensor& W, const Tensor& b) { return linear(x, W, b); }); }},
    {"hard-coded", "my_linear of random x", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_linear); });
}
