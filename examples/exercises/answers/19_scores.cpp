// Checks 19: the scores of attention.

// hint: All products of a row of q with a row of k are one matrix product, once the rows of k have become columns.
// hint: matmul(q, transpose(k, -2, -1)) is [..., Tq, Tk]; what is left to do is / std::sqrt(q.size(-1)).
// why: A sum of d products of numbers of size 1 has the size sqrt(d): divided by it, scores have size 1 for every d.
// why: Large scores make softmax hear one token alone, and hardly any gradient is left that could change its choice.
// why: Tq and Tk may differ: who writes asks for the newest token only, and a decoder looks at another text.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Scores = Tensor(const Tensor& q, const Tensor& k);
enum Mistake { none, no_root, by_d, whole, root_tq, root_tk, turned, keys_alone, reshaped, softmaxed, constant };

static Tensor wrongly(Mistake mistake, const Tensor& q, const Tensor& k) {
  if (mistake == constant) return tensor({{2, 0, 0}, {1, 3, 0}});
  if (mistake == keys_alone) return wrongly(none, k, k);
  if (mistake == turned) return wrongly(none, k, q);
  if (mistake == softmaxed) return softmax(wrongly(none, q, k));
  const Index d = q.size(-1), n = mistake == root_tq ? q.size(-2) : mistake == root_tk ? k.size(-2) : d;
  const double root = std::sqrt(static_cast<double>(n));
  const Tensor fit = mistake == reshaped ? matmul(q, reshape(k, {d, k.size(0)}))
                                         : sum(unsqueeze(q, -2) * unsqueeze(k, -3), {-1});  // all pairs of rows
  return fit * (mistake == no_root ? 1 : mistake == whole ? 0 : 1 / (mistake == by_d ? root * root : root));
}

static void check(Scores attention_scores) {
  const std::pair<Shape, Index> cases[] = {{{5, 4}, 3}, {{2, 3, 5, 8}, 7}, {{2, 1, 3}, 4}, {{3, 1}, 2}};
  for (const auto& [shape, count] : cases) {
    const Tensor q = randn(shape, Generator(7)), k = randn(shape.with(-2, count), Generator(8));
    const Tensor got = attention_scores(q, k), want = wrongly(none, q, k), dy = randn(want.shape(), Generator(9));
    const auto expect_no = [&](Mistake mistake, const std::string& sentence) {
      if (q.shape() == Shape{5, 4}) expect_not(got, wrongly(mistake, q, k), sentence);
    };
    expect_no(no_root, "The products are right, but they are not divided by sqrt(d).");
    expect_no(by_d, "You divide by d: it is the root of d.");
    expect_no(whole, "All scores are 0: 1 / d of whole numbers is 0 in C++. Divide by std::sqrt of d.");
    for (const Mistake mistake : {root_tq, root_tk})
      expect_no(mistake, "You divide by the root of the number of tokens: d is how many numbers a query has.");
    expect_no(turned, "Your scores are transposed: a row belongs to a query, a column to a key, so q comes first.");
    expect_no(keys_alone, "That is k with k: the queries are missing.");
    expect_no(reshaped, "reshape does not transpose: it leaves the numbers in their order, and so mixes the keys.");
    expect_no(softmaxed, "Softmax comes later: what is wanted are the scores as they are.");
    expect_close("attention_scores of random q " + printed(shape) + " and k " + printed(k.shape()), got, want);
    for (const bool of_q : {true, false}) {
      const auto to = [&](const auto& f) {
        return gradient([&](const Tensor& t) { return of_q ? f(t, k) : f(q, t); }, of_q ? q : k, dy);
      };
      const auto formula = [](const Tensor& q, const Tensor& k) { return wrongly(none, q, k); };
      expect_close(std::string("the gradient of ") + (of_q ? "q" : "k"), to(attention_scores), to(formula));
    }
  }
}

#ifdef PROVE
namespace solution {
Tensor attention_scores(const Tensor& q, const Tensor& k) {
  return matmul(q, transpose(k, -2, -1)) / std::sqrt(q.size(-1));
}
}  // namespace solution

template <Mistake mistake>
static void with() {
  check([](const Tensor& q, const Tensor& k) { return wrongly(mistake, q, k); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::attention_scores); }},
    {"no root", "not divided", with<no_root>},
    {"by d", "You divide by d", with<by_d>},
    {"whole numbers", "All scores are 0", with<whole>},
    {"root of Tk", "the number of tokens", with<root_tk>},
    {"transposed", "Your scores are transposed", with<turned>},
    {"k k^T", "k with k", with<keys_alone>},
    {"reshaped", "reshape does not transpose", with<reshaped>},
    {"softmax", "Softmax comes later", with<softmaxed>},
    {"hard-coded", "attention_scores of random q", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(attention_scores); });
}
