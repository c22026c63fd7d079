// Checks 39: without loops.

// hint: The sum over c of a[b, i, c] * k[b, j, c] is a matmul of a with the transpose of k.
// hint: matmul(q * w, transpose(k, 1, 2)) + bias, because w [C] and bias [Tk] broadcast along the last axis.
// why: Besides its arithmetic, each op creates a result and a graph node. So a few large ops beat many small ones.
// why: One large matmul can reuse numbers in the cache, multiply 4 or 8 of them at a time and use several cores.
// why: w can be multiplied into q or k, but not into the scores, because the scores no longer have the axis c.
#include "examples/exercises/answers/check.h"

using Scores = Tensor(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias);
Scores one_by_one;  // defined in the learner's file

namespace of_check {
/// The scores by another formula: all products, [B, Tq, Tk, C], are computed at once and then summed over C.
static Tensor from_products(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
  return sum(unsqueeze(q, 2) * unsqueeze(k, 1) * w, {-1}) + bias;
}

/// Random q, k, w and bias for these extents.
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
    const Tensor got = scores(x[0], x[1], x[2], x[3]), want = from_products(same[0], same[1], same[2], same[3]);
    expect_close("The score of random q, k, w and bias", got, want);
    expect(got.requires_grad(),
           "No gradient flows through your result: compute it of the arguments, with ops of mote.");
    Index ops = 0;
    for (const auto& [name, count] : count_ops(got)) ops += count;
    expect(ops <= 8, "loops", " It took " + printed(ops) + " ops.");
    const Tensor slopes = randn({B, Tq, Tk}, Generator(5));
    for (const Tensor& y : {got, want}) sum(y * slopes).backward();
    for (int i = 0; i < 4; ++i)
      expect_close(std::string("The gradient of ") + std::array{"q", "k", "w", "bias"}[i], x[i].grad(), same[i].grad());
  }
}

static const Row<Scores> rows[] = {
    {"loops", "The scores are right, but they took too many ops: is there still a loop? At most 8 are needed.",
     one_by_one},
    {"transposed", "Transposed: row i and column j of the result belong to query i and key j.",
     [](const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
       return transpose(from_products(q, k, w, bias), 1, 2);
     },
     [](const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
       return from_products(k, q, w, bias);
     }},
    {"bias of queries", "The bias belongs to the keys along the last axis, but yours is added along the queries.",
     [](const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
       return from_products(q, k, w, bias * 0) + unsqueeze(bias, 1);
     }},
    {"w at the scores", "w belongs to the columns c, before they are summed: the scores have a column for each key.",
     [](const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
       return matmul(q, transpose(k, 1, 2)) * w + bias;
     }},
    {"w or bias forgotten", "w or bias is missing: each column c counts w[c] times, and each key j has a bias[j].",
     [](const Tensor& q, const Tensor& k, const Tensor&, const Tensor& bias) {
       return matmul(q, transpose(k, 1, 2)) + bias;
     },
     [](const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
       return from_products(q, k, w, bias * 0);
     }},
    {"k as it is", "k is not transposed: matmul takes rows of its first and columns of its second argument.",
     [](const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) { return matmul(q * w, k) + bias; }},
    {"w twice", "q and k are both multiplied by w, so that it counts twice.",
     [](const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
       return from_products(q, k, w * w, bias);
     }},
    {"hard-coded", of_example,
     [](const Tensor&, const Tensor&, const Tensor&, const Tensor&) {
       return tensor({{{83, 125.5}}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor all_at_once(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
  return matmul(q * w, transpose(k, 1, 2)) + bias;
}
}  // namespace solution
static const Right right([] { check(solution::all_at_once); }, [] { check(from_products); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(all_at_once); });
}
