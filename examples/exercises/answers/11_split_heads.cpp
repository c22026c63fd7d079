// Checks 11: cutting vectors into heads.

// hint: Cut the last axis in two first, with B and T left as they are. Which of the two new axes comes first?
// hint: reshape(x, {x.size(0), x.size(1), H, d}) cuts the vectors. Then T and H, axes 1 and 2, have to change places.
// why: Cutting keeps the order of the numbers, so reshape can do it. Swapping tokens and heads needs transpose.
// why: matmul multiplies matrices along the last two axes. With [T, d] last, one call multiplies those of all heads.
// why: Neither op copies a number. The result is a view of the same memory with other strides.
#include "examples/exercises/answers/check.h"

namespace of_check {
using IntoHeads = Tensor(const Tensor& x, Index H);

static void check(IntoHeads into_heads) {
  for (const auto& [B, T, H, d] :
       std::vector<std::array<Index, 4>>{{2, 5, 3, 4}, {1, 3, 4, 2}, {2, 4, 1, 3}, {3, 1, 2, 2}, {2, 3, 3, 1}}) {
    const Tensor x = randn({B, T, H * d}, Generator(7)), dy = randn({B, H, T, d}, Generator(8));
    Array y = Array::empty(dy.shape()), dx = Array::empty(x.shape());
    Index at = 0;
    for (Index b = 0; b < B; ++b)
      for (Index h = 0; h < H; ++h)
        for (Index t = 0; t < T; ++t)
          for (Index i = 0; i < d; ++i, ++at) {
            y.mutate()[at] = x.array().at({b, t, h * d + i});
            dx.mutate()[(b * T + t) * H * d + h * d + i] = dy.array().at({b, h, t, i});
          }
    const auto yours = [&, H = H](const Tensor& x) { return into_heads(x, H); };
    expect_close("into_heads of random x " + printed(x.shape()) + " with H = " + printed(H), yours(x), y);
    expect_close("its gradient", gradient(yours, x, dy), dx);
  }
}

/// x cut into heads, but not transposed yet: [B, T, H, d].
static Tensor cut(const Tensor& x, Index H) { return reshape(x, {x.size(0), x.size(1), H, x.size(2) / H}); }

static const Row<IntoHeads> rows[] = {
    {"reshape alone",
     "reshape alone keeps the order of reading: your heads hold pieces of other tokens. Cut, then swap axes.",
     [](const Tensor& x, Index H) {
       return reshape(x, {x.size(0), H, x.size(1), x.size(2) / H});
     }},
    {"transposed first", "You transpose before you cut: the vectors that reshape is to cut are torn apart by then.",
     [](const Tensor& x, Index H) {
       return reshape(transpose(x, 1, 2), {x.size(0), H, x.size(1), x.size(2) / H});
     }},
    {"not transposed", "The cut is right, but the heads still stand behind the tokens: swap these two axes.", cut},
    {"H and d swapped", "H and d are swapped: reshape to {.., H, d} cuts a vector into H parts of d numbers.",
     [](const Tensor& x, Index H) { return cut(x, x.size(2) / H); },
     [](const Tensor& x, Index H) { return transpose(cut(x, x.size(2) / H), 1, 2); },
     [](const Tensor& x, Index H) { return transpose(cut(x, x.size(2) / H), 1, 3); },
     [](const Tensor& x, Index H) {
       return permute(cut(x, x.size(2) / H), {0, 3, 1, 2});
     }},
    {"other axes", "The cut is right, but then you swapped other axes: T and H have to change places.",
     [](const Tensor& x, Index H) { return transpose(cut(x, H), 0, 1); },
     [](const Tensor& x, Index H) { return transpose(cut(x, H), 0, 2); },
     [](const Tensor& x, Index H) { return transpose(cut(x, H), 1, 3); },
     [](const Tensor& x, Index H) { return transpose(cut(x, H), 2, 3); }},
    {"detached", "No gradient reaches x: compute with reshape and transpose, and detach nothing.",
     [](const Tensor& x, Index H) { return transpose(cut(x.detach(), H), 1, 2); }},
    {"hard-coded", of_example,
     [](const Tensor&, Index) {
       return tensor({{{{1, 2}, {5, 6}}, {{3, 4}, {7, 8}}}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor into_heads(const Tensor& x, Index H) {
  const Index B = x.size(0), T = x.size(1), d = x.size(2) / H;
  return transpose(reshape(x, {B, T, H, d}), 1, 2);
}
}  // namespace solution
static const Right right([] { check(solution::into_heads); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(into_heads); }, YOURS, {"split_heads"});
}
