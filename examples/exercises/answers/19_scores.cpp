// Checks 19: the scores of attention.

// hint: The dot products of all rows of q with all rows of k are one matrix product, if the rows of k become columns.
// hint: matmul(q, transpose(k, -2, -1)) is [..., Tq, Tk]. Then divide this product by std::sqrt(q.size(-1)).
// why: A sum of d random products of size 1 has the size sqrt(d). Divided by sqrt(d), scores have size 1 for every d.
// why: Large scores make softmax give one token all the weight, and then hardly any gradient is left to change that.
// why: Tq and Tk may differ. A model that writes has one new query, and in cross-attention keys come from another text.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Scores = Tensor(const Tensor& q, const Tensor& k);

/// The dot product of each row of q with each row of k, divided by `divisor`.
static Tensor divided(const Tensor& q, const Tensor& k, double divisor) {
  return sum(unsqueeze(q, -2) * unsqueeze(k, -3), {-1}) / divisor;
}
static double root(Index n) { return std::sqrt(static_cast<double>(n)); }
static Tensor formula(const Tensor& q, const Tensor& k) { return divided(q, k, root(q.size(-1))); }

static void check(Scores attention_scores) {
  const std::pair<Shape, Index> cases[] = {{{5, 4}, 3}, {{2, 3, 5, 8}, 7}, {{2, 1, 3}, 4}, {{3, 1}, 2}};
  for (const auto& [shape, count] : cases) {
    const Tensor q = randn(shape, Generator(7)), k = randn(shape.with(-2, count), Generator(8));
    const Tensor want = formula(q, k), dy = randn(want.shape(), Generator(9));
    expect_close("attention_scores of random q " + printed(shape) + " and k " + printed(k.shape()),
                 attention_scores(q, k), want);
    for (const bool of_q : {true, false}) {
      const auto to = [&](const auto& f) {
        return gradient([&](const Tensor& t) { return of_q ? f(t, k) : f(q, t); }, of_q ? q : k, dy);
      };
      expect_close(std::string("the gradient of ") + (of_q ? "q" : "k"), to(attention_scores), to(formula));
    }
  }
}

static const Row<Scores> rows[] = {
    {"no root", "The products are right, but they are not divided by sqrt(d).",
     [](const Tensor& q, const Tensor& k) { return divided(q, k, 1); }},
    {"by d", "You divide by d: it is the root of d.",
     [](const Tensor& q, const Tensor& k) { return divided(q, k, static_cast<double>(q.size(-1))); }},
    {"by tokens", "You divide by the number of tokens or its root: d is how many numbers a query has.",
     [](const Tensor& q, const Tensor& k) { return divided(q, k, root(q.size(-2))); },
     [](const Tensor& q, const Tensor& k) { return divided(q, k, root(k.size(-2))); }},
    {"whole numbers", "All scores are 0: 1 / d of whole numbers is 0 in C++. Divide by std::sqrt of d.",
     [](const Tensor& q, const Tensor& k) { return divided(q, k, 1) * 0; }},
    {"transposed", "Your scores are transposed: a row belongs to a query, so q comes first.",
     [](const Tensor& q, const Tensor& k) { return formula(k, q); }},
    {"reshaped", "reshape does not transpose: it leaves the numbers in their order, and so mixes the keys.",
     [](const Tensor& q, const Tensor& k) {
       return matmul(q, reshape(k, {k.size(-1), k.size(-2)})) / root(q.size(-1));
     }},
    {"softmax", "Softmax comes later: what is wanted are the scores as they are.",
     [](const Tensor& q, const Tensor& k) { return softmax(formula(q, k)); }},
    {"hard-coded", of_example,
     [](const Tensor&, const Tensor&) {
       return tensor({{2, 0, 0}, {1, 3, 0}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor attention_scores(const Tensor& q, const Tensor& k) {
  return matmul(q, transpose(k, -2, -1)) / std::sqrt(q.size(-1));
}
}  // namespace solution
static const Right right([] { check(solution::attention_scores); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(attention_scores); });
}
