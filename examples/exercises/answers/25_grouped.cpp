// Checks 25: grouped heads.

// hint: Give x a new axis behind its heads, [B, G, 1, T, d], and repeat the new axis H / G times.
// hint: Take expand(unsqueeze(x, 2), {B, G, H / G, T, d}), and reshape the result to {B, H, T, d}.
// why: Keys and values take H / G times less memory, and less time to read. Queries are not kept at all.
// why: G = H is plain multi-head attention. G = 1 is multi-query attention, with one head of keys and values for all.
// why: Each shared head gets the sum of the gradients of all heads that use it, because backward of expand sums.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Repeat = Tensor(const Tensor& x, Index H);

static void check(Repeat for_all_heads) {
  const Generator random(7);
  for (const auto& [B, G, H, T] : {std::array<Index, 4>{1, 2, 6, 2}, {2, 3, 6, 4}, {2, 1, 4, 3}, {3, 2, 2, 1}}) {
    const Tensor x = randn({B, G, T, 3}, random), weights = randn({B, H, T, 3}, random);
    std::vector<Tensor> heads, sums;
    for (Index h = 0; h < H; ++h) heads.push_back(select(x, 1, h / (H / G)));
    for (Index g = 0; g < G; ++g) sums.push_back(sum(slice(weights, 1, g * (H / G), (g + 1) * (H / G)), {1}));
    const auto yours = [&, H = H](const Tensor& y) { return for_all_heads(y, H); };
    expect_close("for_all_heads of random x " + printed(x.shape()) + " with H = " + printed(H), yours(x),
                 stack(heads, 1));
    expect_close("the gradient of x", gradient(yours, x, weights), stack(sums, 1));
  }
}

/// x [B, G, T, d], repeated n times along a new axis at `axis`, and then reshaped to `shape`.
static Tensor repeated(const Tensor& x, int axis, Index n, const Shape& shape) {
  Shape wide = x.shape().insert(axis, n);
  return reshape(expand(unsqueeze(x, axis), wide), shape);
}

static const Row<Repeat> rows[] = {
    {"tiled", "Your heads take turns, A B A B: copies of one head stand side by side, A A B B.",
     [](const Tensor& x, Index H) { return repeated(x, 1, H / x.size(1), x.shape().with(1, H)); }},
    {"tokens repeated", "You repeat each token, which moves tokens into other heads: the new axis belongs before T.",
     [](const Tensor& x, Index H) { return repeated(x, 3, H / x.size(1), x.shape().with(1, H)); }},
    {"G times", "You repeat each head G or H times, but H / G heads share it: repeat it H / G times.",
     [](const Tensor& x, Index) { return repeated(x, 2, x.size(1), x.shape().with(1, x.size(1) * x.size(1))); },
     [](const Tensor& x, Index H) { return repeated(x, 2, H, x.shape().with(1, x.size(1) * H)); }},
    {"along T", "That made T longer, and not more heads.",
     [](const Tensor& x, Index H) { return concat(std::vector<Tensor>(H / x.size(1), x), 2); }},
    {"an axis more", "The copies still have an axis of their own: reshape to [B, H, T, d].",
     [](const Tensor& x, Index H) { return repeated(x, 2, H / x.size(1), x.shape().insert(2, H / x.size(1))); }},
    {"detached", "No gradient reaches x: compute with expand and reshape, and detach nothing.",
     [](const Tensor& x, Index H) { return repeated(x.detach(), 2, H / x.size(1), x.shape().with(1, H)); }},
    {"hard-coded", of_example,
     [](const Tensor&, Index) {
       return tensor({{{{1}}, {{1}}, {{1}}, {{2}}, {{2}}, {{2}}}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor for_all_heads(const Tensor& x, Index H) {
  const Index B = x.size(0), G = x.size(1), T = x.size(2), d = x.size(3);
  return reshape(expand(unsqueeze(x, 2), {B, G, H / G, T, d}), {B, H, T, d});
}
}  // namespace solution
static const Right right([] { check(solution::for_all_heads); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(for_all_heads); }, YOURS, {"repeat_heads"});
}
