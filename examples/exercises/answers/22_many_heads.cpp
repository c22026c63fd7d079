// Checks 22: many heads.

// hint: reshape can cut the last axis, [B, T, C] to [B, T, H, d]. Only then transpose(..., 1, 2) brings H before T.
// hint: Go back in reverse order: reshape(transpose(heard, 1, 2), {B, T, C}), where heard is [B, H, T, d].
// why: H heads need no more weights than one wide head. Softmax costs H times as much, but each head attends by itself.
// why: reshape keeps the order of the numbers, so reshaping [B, T, C] straight to [B, H, T, d] would mix up the tokens.
// why: Wo is the only place where heads meet. Without Wo, each number of the result would come from a single head.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Heads = Tensor(const Tensor& x, const Tensor& Wq, const Tensor& Wk, const Tensor& Wv, const Tensor& Wo, Index H);

enum Kind { none, not_back, not_cut, neither, by_C, undivided, unmixed, swapped, over_queries, masked, detached };
/// The five steps of the exercise, with the mistake `kind`.
template <Kind kind>
static Tensor by_steps(const Tensor& x, const Tensor& Wq, const Tensor& Wk, const Tensor& Wv, const Tensor& Wo,
                       Index H) {
  const Index B = x.size(0), T = x.size(1), C = x.size(2), d = C / H;
  const auto cut = [&](const Tensor& y) {
    return kind == not_cut || kind == neither ? reshape(y, {B, H, T, d}) : transpose(reshape(y, {B, T, H, d}), 1, 2);
  };
  const Tensor q = cut(linear(x, kind == detached ? Wq.detach() : Wq)), k = cut(linear(x, Wk)), v = cut(linear(x, Wv));
  Tensor scores = kind == swapped ? matmul(k, transpose(q, 2, 3)) : matmul(q, transpose(k, 2, 3));
  if (kind != undivided) scores = scores / std::sqrt(static_cast<double>(kind == by_C ? C : d));
  if (kind == masked) scores = masked_fill(scores, ~causal_mask(T), -INFINITY);
  const Tensor heard = matmul(softmax(scores, kind == over_queries ? -2 : -1), v);
  const Tensor y = reshape(kind == not_back || kind == neither ? heard : transpose(heard, 1, 2), {B, T, C});
  return kind == unmixed ? y : linear(y, Wo);
}

static void check(Heads many_heads) {
  const Generator random(7);
  for (const auto& [B, T, C, H] : {std::array<Index, 4>{1, 3, 4, 2}, {2, 5, 12, 3}, {3, 2, 4, 4}, {1, 4, 3, 1}}) {
    const Tensor x = randn({B, T, C}, random), Wq = randn({C, C}, random), Wk = randn({C, C}, random);
    const Tensor Wv = randn({C, C}, random), Wo = randn({C, C}, random), weights = randn({B, T, C}, random);
    const auto yours = [&, H = H](const Tensor& t) { return many_heads(t, Wq, Wk, Wv, Wo, H); };
    const auto motes = [&, heads = mote::Heads{H, H}](const Tensor& t) {
      return linear(attention(linear(t, Wq), linear(t, Wk), linear(t, Wv), heads, {}, random), Wo);
    };
    expect_close("many_heads of random x " + printed(x.shape()) + " with " + printed(H) + " heads", yours(x), motes(x));
    expect_close("the gradient of x", gradient(yours, x, weights), gradient(motes, x, weights));
    for (const Tensor* W : {&Wq, &Wk, &Wv, &Wo}) {
      const auto by = [&, H = H](Heads f) {
        const auto with = [&](const Tensor& t, const Tensor& old) { return &old == W ? t : old; };
        return gradient([&](const Tensor& t) { return f(x, with(t, Wq), with(t, Wk), with(t, Wv), with(t, Wo), H); },
                        *W, weights);
      };
      expect_close("the gradient of a matrix", by(many_heads), by(by_steps<none>));
    }
    expect_by_hand(yours(Tensor(x.array()).requires_grad_()), {"attention"});
  }
}

static const Row<Heads> rows[] = {
    {"not transposed back", "The heads are not side by side again: transpose [B, H, T, d] back before you reshape it.",
     by_steps<not_back>},
    {"cut by reshape alone",
     "reshape straight to [B, H, T, d] mixes tokens: cut into [B, T, H, d] first, then transpose.", by_steps<not_cut>,
     by_steps<neither>},
    {"another root", "A product in a head has d = C / H terms: the scores are to be divided by sqrt(d).",
     by_steps<by_C>, by_steps<undivided>},
    {"without Wo", "Step 5 is missing: Wo mixes what the heads heard.", by_steps<unmixed>},
    {"rows and columns",
     "Row i of the scores is query i with all keys, q k^T. Softmax goes over the keys, the last axis.",
     by_steps<swapped>, by_steps<over_queries>},
    {"masked", "Your tokens do not hear what comes after them: here there is no mask.", by_steps<masked>},
    {"detached", "No gradient reaches an argument: compute from x and all matrices, and detach nothing.",
     by_steps<detached>},
    {"hard-coded", of_example,
     [](const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, Index) {
       return tensor({{{0.67, 0, 0, 0.67}, {0.5, 0, 0, 0.5}}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor many_heads(const Tensor& x, const Tensor& Wq, const Tensor& Wk, const Tensor& Wv, const Tensor& Wo, Index H) {
  const Index B = x.size(0), T = x.size(1), C = x.size(2), d = C / H;
  const auto cut = [&](const Tensor& y) { return transpose(reshape(y, {B, T, H, d}), 1, 2); };
  const Tensor q = cut(linear(x, Wq)), k = cut(linear(x, Wk)), v = cut(linear(x, Wv));
  const Tensor scores = matmul(q, transpose(k, -2, -1)) / std::sqrt(static_cast<double>(d));
  const Tensor heard = matmul(softmax(scores), v);
  return linear(reshape(transpose(heard, 1, 2), {B, T, C}), Wo);
}
}  // namespace solution
static const Right right([] { check(solution::many_heads); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(many_heads); }, YOURS,
                         {"split_heads", "join_heads", "MultiHeadAttention", "SelfAttention"});
}
