// Checks 11: cutting vectors into heads.

// hint: Cut the last axis in two first, with B and T left as they are. Which of the two new axes comes first?
// hint: reshape(x, {x.size(0), x.size(1), H, d}) has cut the vectors; now T and H, axes 1 and 2, have to change places.
// why: A cut draws borders within each vector: reshape can. Past each other only transpose takes tokens and heads.
// why: matmul works on the last two axes and repeats it for all before: with [T, d] last, one call serves all heads.
// why: Neither copies a number: the result is the same memory, read in other steps.
#include "examples/exercises/answers/check.h"

namespace of_check {
using IntoHeads = Tensor(const Tensor& x, Index H);

/// What is recognised of an answer: all four extents differ, so that no mistake can hide.
static void expect_no_mistake(const Tensor& got, const Tensor& x, Index B, Index T, Index H, Index d) {
  const Tensor cut = reshape(x, {B, T, H, d}), swapped = reshape(x, {B, T, d, H});
  expect_not(got, reshape(x, {B, H, T, d}),
             "reshape alone keeps the order of reading: your heads hold pieces of other tokens. Cut, then swap axes.");
  expect_not(got, reshape(transpose(x, 1, 2), {B, H, T, d}),
             "You transpose before you cut: the vectors that reshape is to cut are torn apart by then.");
  expect_not(got, cut, "The cut is right, but the heads still stand behind the tokens: swap these two axes.");
  for (const Tensor& y : {swapped, transpose(swapped, 1, 2), transpose(swapped, 1, 3), permute(swapped, {0, 3, 1, 2})})
    expect_not(got, y, "H and d are swapped: reshape to {.., H, d} cuts a vector into H parts of d numbers.");
  for (const auto& [a, b] : {std::pair(0, 1), {0, 2}, {0, 3}, {1, 3}, {2, 3}})
    expect_not(got, transpose(cut, a, b),
               "The cut is right, but then you swapped axes " + printed(a) + " and " + printed(b) +
                   " of [B, T, H, d]. Which two have to change places?");
}

static void check(IntoHeads into_heads) {
  for (const auto& [B, T, H, d] :
       std::vector<std::array<Index, 4>>{{2, 5, 3, 4}, {1, 3, 4, 2}, {2, 4, 1, 3}, {3, 1, 2, 2}, {2, 3, 3, 1}}) {
    const Tensor x = randn({B, T, H * d}, Generator(7)), dy = randn({B, H, T, d}, Generator(8));
    const Tensor got = into_heads(x, H);
    if (B * T * H * d == 2 * 5 * 3 * 4) expect_no_mistake(got, x, B, T, H, d);
    Array y = Array::empty(dy.shape()), dx = Array::empty(x.shape());
    Index at = 0;
    for (Index b = 0; b < B; ++b)
      for (Index h = 0; h < H; ++h)
        for (Index t = 0; t < T; ++t)
          for (Index i = 0; i < d; ++i, ++at) {
            y.mutate()[at] = x.array().at({b, t, h * d + i});
            dx.mutate()[(b * T + t) * H * d + h * d + i] = dy.array().at({b, h, t, i});
          }
    expect_close("into_heads of random x " + printed(x.shape()) + " with H = " + printed(H), got, y);
    expect_close("its gradient", gradient([&, H = H](const Tensor& x) { return into_heads(x, H); }, x, dy), dx);
  }
}

#ifdef PROVE
namespace solution {
Tensor into_heads(const Tensor& x, Index H) {
  const Index B = x.size(0), T = x.size(1), d = x.size(2) / H;
  return transpose(reshape(x, {B, T, H, d}), 1, 2);
}
}  // namespace solution

enum Mistake { uncut, torn, standing, swapped, other_axes, last_axes, constant };
template <Mistake mistake>
static void with() {
  check([](const Tensor& x, Index H) {
    const Index B = x.size(0), T = x.size(1), d = x.size(2) / H;
    if (mistake == uncut) return reshape(x, {B, H, T, d});
    if (mistake == torn) return reshape(transpose(x, 1, 2), {B, H, T, d});
    if (mistake == swapped) return transpose(reshape(x, {B, T, d, H}), 1, 2);
    if (mistake == constant) return tensor({{{{1, 2}, {5, 6}}, {{3, 4}, {7, 8}}}});
    const Tensor cut = reshape(x, {B, T, H, d});
    return mistake == standing ? cut : transpose(cut, mistake == other_axes ? 1 : 2, 3);
  });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::into_heads); }},
    {"reshape alone", "pieces of other tokens", with<uncut>},
    {"transposed first", "torn apart", with<torn>},
    {"not transposed", "behind the tokens", with<standing>},
    {"H and d swapped", "H and d are swapped", with<swapped>},
    {"axes 1 and 3", "you swapped axes 1 and 3", with<other_axes>},
    {"axes 2 and 3", "you swapped axes 2 and 3", with<last_axes>},
    {"hard-coded", "into_heads of random x", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(into_heads); }, YOURS, {"split_heads"});
}
