// Checks 25: grouped heads.

// hint: Give x a new axis behind its heads, [B, G, 1, T, d], and repeat that one H / G times.
// hint: expand(unsqueeze(x, 2), {B, G, H / G, T, d}), and then reshape to {B, H, T, d}.
// why: The memory for keys and values, and the time to read it, shrink by H / G; queries need not be kept at all.
// why: G = H is plain multi-head attention, G = 1 multi-query attention: one head of keys for all.
// why: Each shared head gets the gradients of all heads that use it, added up: expand sees to that.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Repeat = Tensor(const Tensor& x, Index H);
enum Mistake { none, tiled, tokens, G_times };

template <Mistake mistake>
Tensor wrongly(const Tensor& x, Index H) {
  const Index B = x.size(0), G = x.size(1), T = x.size(2), d = x.size(3), n = mistake == G_times ? G : H / G;
  if (mistake == tiled) return reshape(expand(unsqueeze(x, 1), {B, n, G, T, d}), {B, H, T, d});
  if (mistake == tokens) return reshape(expand(unsqueeze(x, 3), {B, G, T, n, d}), {B, H, T, d});
  return reshape(expand(unsqueeze(x, 2), {B, G, n, T, d}), {B, G * n, T, d});
}

static void check(Repeat for_all_heads) {
  const Generator random(7);
  for (const auto& [B, G, H, T] : {std::array<Index, 4>{1, 2, 6, 2}, {2, 3, 6, 4}, {2, 1, 4, 3}, {3, 2, 2, 1}}) {
    const Tensor x = randn({B, G, T, 3}, random), weights = randn({B, H, T, 3}, random);
    std::vector<Tensor> heads, sums;
    for (Index h = 0; h < H; ++h) heads.push_back(select(x, 1, h / (H / G)));
    for (Index g = 0; g < G; ++g) sums.push_back(sum(slice(weights, 1, g * (H / G), (g + 1) * (H / G)), {1}));
    const Tensor got = for_all_heads(x, H), want = stack(heads, 1);
    const auto no = [&, H = H](Repeat mistake, const char* sentence) {
      if (const Tensor y = mistake(x, H); !close(y, want)) expect_not(got, y, sentence);
    };
    no(wrongly<tiled>, "Your heads take turns, A B A B: copies of one head stand side by side, A A B B.");
    no(wrongly<tokens>, "You repeat each token, which moves tokens into other heads: the new axis belongs before T.");
    no(wrongly<G_times>, "You repeat each head G times, but H / G heads share it: repeat it H / G times.");
    expect(G == H || got.shape() != Shape({B, G, T * (H / G), 3}), "That made T longer, and not more heads.");
    expect_close("for_all_heads of random x " + printed(x.shape()) + " with H = " + printed(H), got, want);
    const auto yours = [&, H = H](const Tensor& y) { return for_all_heads(y, H); };
    expect_close("the gradient of x", gradient(yours, x, weights), stack(sums, 1));
  }
}

#ifdef PROVE
namespace solution {
Tensor for_all_heads(const Tensor& x, Index H) {
  const Index B = x.size(0), G = x.size(1), T = x.size(2), d = x.size(3);
  return reshape(expand(unsqueeze(x, 2), {B, G, H / G, T, d}), {B, H, T, d});
}
}  // namespace solution

static const Tried tried[] = {
    {"solution", "", [] { check(solution::for_all_heads); }},
    {"tiled", "take turns", [] { check(wrongly<tiled>); }},
    {"tokens repeated", "repeat each token", [] { check(wrongly<tokens>); }},
    {"G times", "G times, but", [] { check(wrongly<G_times>); }},
    {"along T", "made T longer",
     [] { check([](const Tensor& x, Index H) { return concat(std::vector<Tensor>(H / x.size(1), x), 2); }); }},
    {"a copy without gradient", "No gradient",
     [] { check([](const Tensor& x, Index H) { return wrongly<none>(x.detach(), H); }); }},
    {"hard-coded", "random x",
     [] { check([](const Tensor&, Index) {
            return tensor({{{{1}}, {{1}}, {{1}}, {{2}}, {{2}}, {{2}}}});
          }); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(for_all_heads); }, YOURS, {"repeat_heads"});
}
