// Checks 39: without loops.

// hint: A sum over c, of something with [b, i, c] times something with [b, j, c], is a matmul with a transpose.
// hint: matmul(q * w, transpose(k, 1, 2)) + bias: w [C] meets the last axis of q, and bias [Tk] that of the result.
// why: Each op costs something beside its multiplications: a result, a node, a rule. A few large ones beat many small.
// why: Given all numbers at once, matmul keeps them near the processor, takes 4 or 8 at a time and shares out the work.
// why: w can stand at q or at k, but not at the scores: there c has been summed over and is gone.
#include "examples/exercises/answers/check.h"

using Scores = Tensor(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias);
Scores one_by_one;  // the loops in the learner's file

namespace of_check {
enum Mistake { none, transposed, by_query, at_scores, weightless, twice, biasless, crossed, constant };
static const std::map<Mistake, std::string> sentences = {
    {transposed, "Transposed: row i and column j of the result belong to query i and key j."},
    {by_query, "The bias belongs to the keys, along the last axis, but yours is added along the queries."},
    {at_scores, "w belongs to the columns c, before they are summed: the scores have a column for each key instead."},
    {weightless, "w is missing: each column c counts w[c] times."},
    {biasless, "bias is missing: each key j has one, which is added to all of its scores."},
    {crossed, "k is not transposed: matmul takes rows of its first and columns of its second argument."},
    {twice, "q and k are both multiplied by w, so that it counts twice."},
};

/// The scores, or what comes of a mistake, from all products side by side: [B, Tq, Tk, C].
static Tensor from_products(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias, Mistake mistake) {
  if (mistake == crossed) return matmul(q * w, k) + bias;
  const Tensor products = unsqueeze(q, 2) * unsqueeze(k, 1);
  if (mistake == at_scores) return sum(products, {-1}) * w + bias;
  const Tensor y = sum(products * (mistake == weightless ? w * 0 + 1 : mistake == twice ? w * w : w), {-1});
  if (mistake == transposed) return transpose(y + bias, 1, 2);
  if (mistake == biasless) return y;
  return y + (mistake == by_query ? unsqueeze(bias, 1) : bias);
}

/// q, k, w and bias, for B, Tq, Tk and C.
static std::vector<Tensor> inputs(Index B, Index Tq, Index Tk, Index C) {
  const Generator random(B);
  std::vector<Tensor> all;
  for (const Shape& shape : {Shape{B, Tq, C}, Shape{B, Tk, C}, Shape{C}, Shape{Tk}})
    all.push_back(randn(shape, random).requires_grad_());
  return all;
}

static void check(Scores scores) {
  for (const auto& [B, Tq, Tk, C] : std::vector<std::array<Index, 4>>{{3, 4, 4, 4}, {2, 3, 5, 4}, {1, 1, 2, 3}}) {
    const std::vector<Tensor> x = inputs(B, Tq, Tk, C), same = inputs(B, Tq, Tk, C);
    const Tensor got = scores(x[0], x[1], x[2], x[3]), want = from_products(same[0], same[1], same[2], same[3], none);
    for (const auto& [mistake, sentence] : sentences)
      if (Tq == C && Tk == C) expect_not(got, from_products(x[0], x[1], x[2], x[3], mistake), sentence);
    expect_close("The score of random q, k, w and bias", got, want);
    expect(got.requires_grad(),
           "No gradient flows through your result: compute it of the arguments, with ops of mote.");
    Index ops = 0;
    for (const auto& [name, count] : count_ops(got)) ops += count;
    expect(ops <= 8,
           "The scores are right, but took " + printed(ops) + " ops: is there still a loop? At most 8 are needed.");
    const Tensor slopes = randn({B, Tq, Tk}, Generator(5));
    for (const Tensor& y : {got, want}) sum(y * slopes).backward();
    for (int i = 0; i < 4; ++i)
      expect_close(std::string("The gradient of ") + std::array{"q", "k", "w", "bias"}[i], x[i].grad(), same[i].grad());
  }
}

#ifdef PROVE
namespace solution {
Tensor all_at_once(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
  return matmul(q * w, transpose(k, 1, 2)) + bias;
}
}  // namespace solution

template <Mistake mistake>
void wrongly() {
  check([](const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
    return mistake == constant ? tensor({{{83, 125.5}}}) : from_products(q, k, w, bias, mistake);
  });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::all_at_once); }},
    {"all products side by side", "", wrongly<none>},
    {"three loops", "At most 8", [] { check(one_by_one); }},
    {"transposed", "Transposed: row i", wrongly<transposed>},
    {"bias of queries", "along the queries", wrongly<by_query>},
    {"w at the scores", "before they are summed", wrongly<at_scores>},
    {"without w", "w is missing", wrongly<weightless>},
    {"without bias", "bias is missing", wrongly<biasless>},
    {"k as it is", "not transposed", wrongly<crossed>},
    {"w twice", "it counts twice", wrongly<twice>},
    {"hard-coded", "The score of random", wrongly<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(all_at_once); });
}
