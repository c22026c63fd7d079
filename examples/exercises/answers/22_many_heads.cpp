// Checks 22: many heads.

// hint: reshape can cut the last axis, [B, T, C] to [B, T, H, d]; only then transpose(..., 1, 2) brings H before T.
// hint: Back the same way, in reverse: reshape(transpose(heard, 1, 2), {B, T, C}), where heard is [B, H, T, d].
// why: The matrices are those of one wide head, so only softmax costs more, H times; but each has its own way to look.
// why: A reshape alone never moves a number: cutting [B, T, C] into [B, H, T, d] by it would mix up the tokens.
// why: Wo is the only place where heads meet: without it, number i of the result would come from a single head.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Heads4 = Tensor(const Tensor& x, const Tensor& Wq, const Tensor& Wk, const Tensor& Wv, const Tensor& Wo, Index H);
enum Mistake { none, not_back, not_cut, neither, by_C, unscaled, unmixed, swapped, by_query, detached };

template <Mistake mistake>
Tensor wrongly(const Tensor& x, const Tensor& Wq, const Tensor& Wk, const Tensor& Wv, const Tensor& Wo, Index H) {
  const Index B = x.size(0), T = x.size(1), C = x.size(2), d = C / H;
  const auto cut = [&](const Tensor& y) {
    return mistake == not_cut || mistake == neither ? reshape(y, {B, H, T, d})
                                                    : transpose(reshape(y, {B, T, H, d}), 1, 2);
  };
  const Tensor q = cut(linear(x, mistake == detached ? Wq.detach() : Wq)), k = cut(linear(x, Wk)),
               v = cut(linear(x, Wv));
  const double divisor = mistake == unscaled ? 1 : std::sqrt(static_cast<double>(mistake == by_C ? C : d));
  const Tensor scores = mistake == swapped ? matmul(k, transpose(q, 2, 3)) : matmul(q, transpose(k, 2, 3));
  const Tensor heard = matmul(softmax(scores / divisor, mistake == by_query ? -2 : -1), v);
  const bool back = mistake != not_back && mistake != neither;
  const Tensor y = reshape(back ? transpose(heard, 1, 2) : heard, {B, T, C});
  return mistake == unmixed ? y : linear(y, Wo);
}

static void check(Heads4 many_heads) {
  const Generator random(7);
  for (const auto& [B, T, C, H] : {std::array<Index, 4>{1, 3, 4, 2}, {2, 5, 12, 3}, {3, 2, 4, 4}, {1, 4, 3, 1}}) {
    const Tensor x = randn({B, T, C}, random), Wq = randn({C, C}, random), Wk = randn({C, C}, random);
    const Tensor Wv = randn({C, C}, random), Wo = randn({C, C}, random), weights = randn({B, T, C}, random);
    const auto yours = [&, H = H](const Tensor& t) { return many_heads(t, Wq, Wk, Wv, Wo, H); };
    const auto motes = [&, heads = Heads{H, H}](const Tensor& t) {
      return linear(attention(linear(t, Wq), linear(t, Wk), linear(t, Wv), heads, {}, random), Wo);
    };
    const Tensor got = yours(x), want = motes(x);
    const auto no = [&, H = H](Heads4 mistake, const char* sentence) {
      if (const Tensor y = mistake(x, Wq, Wk, Wv, Wo, H); !close(y, want)) expect_not(got, y, sentence);
    };
    no(wrongly<not_back>, "The heads are not side by side again: transpose [B, H, T, d] back before you reshape it.");
    for (Heads4* mistake : {wrongly<not_cut>, wrongly<neither>})
      no(mistake, "reshape straight to [B, H, T, d] mixes tokens: cut into [B, T, H, d] first, then transpose.");
    no(wrongly<by_C>, "You divide by sqrt(C), but a product in a head has d = C / H terms: divide by sqrt(d).");
    no(wrongly<unscaled>, "The scores are not divided by sqrt(d), which keeps softmax from choosing one token alone.");
    no(wrongly<unmixed>, "Step 5 is missing: the last matrix, Wo, mixes what the heads heard.");
    no(wrongly<swapped>, "q and k are swapped: row i of the scores is query i with all keys, q k^T.");
    no(wrongly<by_query>, "softmax goes over the keys, the last axis, so that the weights of each query sum to 1.");
    expect_close("many_heads of random x " + printed(x.shape()) + " with " + printed(H) + " heads", got, want);
    expect_close("the gradient of x", gradient(yours, x, weights), gradient(motes, x, weights));
    for (const Tensor* W : {&Wq, &Wk, &Wv, &Wo}) {
      const auto by = [&, H = H](Heads4 f) {
        const auto with = [&](const Tensor& t, const Tensor& old) { return &old == W ? t : old; };
        return gradient([&](const Tensor& t) { return f(x, with(t, Wq), with(t, Wk), with(t, Wv), with(t, Wo), H); },
                        *W, weights);
      };
      expect_close("the gradient of a matrix", by(many_heads), by(wrongly<none>));
    }
    expect_by_hand(yours(Tensor(x.array()).requires_grad_()), {"attention"});
  }
}

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

static const Tried tried[] = {
    {"solution", "", [] { check(solution::many_heads); }},
    {"not transposed back", "not side by side", [] { check(wrongly<not_back>); }},
    {"cut by reshape alone", "mixes tokens", [] { check(wrongly<not_cut>); }},
    {"divided by sqrt(C)", "divide by sqrt(C)", [] { check(wrongly<by_C>); }},
    {"not divided", "not divided by sqrt(d)", [] { check(wrongly<unscaled>); }},
    {"without Wo", "Step 5 is missing", [] { check(wrongly<unmixed>); }},
    {"q and k swapped", "swapped", [] { check(wrongly<swapped>); }},
    {"softmax over queries", "goes over the keys", [] { check(wrongly<by_query>); }},
    {"a matrix detached", "No gradient reaches", [] { check(wrongly<detached>); }},
    {"hard-coded", "random x",
     [] {
       check([](const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, Index) {
         return tensor({{{0.67, 0, 0, 0.67}, {0.5, 0, 0, 0.5}}});
       });
     }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(many_heads); }, YOURS,
                         {"split_heads", "join_heads", "MultiHeadAttention", "SelfAttention"});
}
