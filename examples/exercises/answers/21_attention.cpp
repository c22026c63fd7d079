// Checks 21: attention, whole.

// hint: Four lines: compute the scores, set those of the future to -inf, apply softmax to each row, and multiply by v.
// hint: Apply softmax to masked_fill(scores, ~causal_mask(q.size(-2)), -std::numeric_limits<double>::infinity()).
// why: If scores are masked, the weights of a row sum to 1. If weights are masked, rows of early tokens sum to less.
// why: Attention is a soft look-up: it weights all values and chooses none, so gradients can teach it where to look.
// why: T tokens have T^2 scores, so long texts are expensive. mote's attention() never keeps all of them in memory.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Attention = Tensor(const Tensor& q, const Tensor& k, const Tensor& v);

static Tensor motes(const Tensor& q, const Tensor& k, const Tensor& v) { return attention(q, k, v, {.causal = true}); }

static void check(Attention my_attention) {
  for (const Shape& shape : {Shape{5, 4}, Shape{2, 3, 6, 2}, Shape{2, 1, 3}, Shape{4, 1}}) {
    const Tensor q = randn(shape, Generator(7)), k = randn(shape, Generator(8));
    const Tensor v = randn(shape.with(-1, 3), Generator(9)), dy = randn(v.shape(), Generator(10));
    expect_close("my_attention of random q " + printed(shape), my_attention(q, k, v), motes(q, k, v));
    expect_by_hand(my_attention(Tensor(q.array()).requires_grad_(), k, v), {"attention", "masked_softmax"});
    for (const char of : {'q', 'k', 'v'}) {
      const auto to = [&](Attention f) {
        const auto y = [&](const Tensor& t) { return f(of == 'q' ? t : q, of == 'k' ? t : k, of == 'v' ? t : v); };
        return gradient(y, of == 'q' ? q : of == 'k' ? k : v, dy);
      };
      expect_close(std::string("the gradient of ") + of, to(my_attention), to(motes));
    }
  }
  // The score of a token with itself is about -1e200, so only -infinity is low enough to hide the future.
  const Tensor q = randn({6, 4}, Generator(3)) * 1e100, v = randn({6, 4}, Generator(4));
  expect_close("my_attention of scores that are far below 0", my_attention(q, -q, v), motes(q, -q, v));
}

static Tensor scores_of(const Tensor& q, const Tensor& k, double divisor) {
  return matmul(q, transpose(k, -2, -1)) / divisor;
}
static Tensor scores_of(const Tensor& q, const Tensor& k) { return scores_of(q, k, std::sqrt(q.size(-1))); }
/// The attention weights for these scores, after the scores of the future are replaced by `hidden`.
static Tensor weights_of(const Tensor& scores, double hidden = -INFINITY) {
  return softmax(masked_fill(scores, ~causal_mask(scores.size(-1)), hidden));
}

static const Row<Attention> rows[] = {
    {"mask after softmax", "You mask after softmax: the weights of a row no longer sum to 1. Mask the scores.",
     [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return matmul(masked_fill(softmax(scores_of(q, k)), ~causal_mask(q.size(-2)), 0), v);
     }},
    {"softmax of columns", "Your softmax goes over the queries, down the columns: each row of weights should sum to 1.",
     [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return matmul(softmax(masked_fill(scores_of(q, k), ~causal_mask(q.size(-2)), -INFINITY), -2), v);
     }},
    {"v forgotten", "These are the weights: y is weights times v, the mean of the values by them.",
     [](const Tensor& q, const Tensor& k, const Tensor&) { return weights_of(scores_of(q, k)); }},
    {"another root", "The scores are to be divided by sqrt(d), the root of how many numbers a row of q has.",
     [](const Tensor& q, const Tensor& k, const Tensor& v) { return matmul(weights_of(scores_of(q, k, 1)), v); },
     [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return matmul(weights_of(scores_of(q, k, std::sqrt(q.size(-2)))), v);
     },
     [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return matmul(weights_of(scores_of(q, k, double(q.size(-1)))), v);
     }},
    {"no mask", "Every token sees the whole text and so the future: the mask is missing.",
     [](const Tensor& q, const Tensor& k, const Tensor& v) { return matmul(softmax(scores_of(q, k)), v); }},
    {"wrong way round", "The mask is the wrong way round: -inf belongs to what comes after a token, ~causal_mask.",
     [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return matmul(softmax(masked_fill(scores_of(q, k), causal_mask(q.size(-2)), -INFINITY)), v);
     },
     [](const Tensor& q, const Tensor& k, const Tensor& v) {
       return matmul(softmax(masked_fill(scores_of(q, k), ~causal_mask(q.size(-2)).transpose(0, 1), -INFINITY)), v);
     }},
    {"a number hides",
     "A score may be lower than the number by which you hide, and e^0 is 1: only minus infinity hides always.",
     [](const Tensor& q, const Tensor& k, const Tensor& v) { return matmul(weights_of(scores_of(q, k), 0), v); },
     [](const Tensor& q, const Tensor& k, const Tensor& v) { return matmul(weights_of(scores_of(q, k), -100), v); },
     [](const Tensor& q, const Tensor& k, const Tensor& v) { return matmul(weights_of(scores_of(q, k), -1e5), v); },
     [](const Tensor& q, const Tensor& k, const Tensor& v) { return matmul(weights_of(scores_of(q, k), -1e9), v); }},
    {"hard-coded", of_example,
     [](const Tensor&, const Tensor&, const Tensor&) {
       return tensor({{1, 2}, {3, 4}});
     }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor my_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores = matmul(q, transpose(k, -2, -1)) / std::sqrt(q.size(-1));
  const Mask future = ~causal_mask(q.size(-2));
  const Tensor weights = softmax(masked_fill(scores, future, -std::numeric_limits<double>::infinity()));
  return matmul(weights, v);
}
}  // namespace solution
static const Right right([] { check(solution::my_attention); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_attention); });
}
