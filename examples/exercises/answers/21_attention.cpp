// Checks 21: attention, whole.

// hint: Four lines: the scores; -inf for those of the future; softmax along each row; and these weights times v.
// hint: masked_fill(scores, ~causal_mask(q.size(-2)), -std::numeric_limits<double>::infinity()) stands in the softmax.
// why: Masked before softmax, what is left shares the whole 1; masked after it, early tokens would get small vectors.
// why: It is a look into a table, but a soft one: nothing is chosen, all is weighted, so choosing can be learned.
// why: T^2 scores for T tokens: that is what long texts cost, and what attention() computes without keeping them all.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Attention = Tensor(const Tensor& q, const Tensor& k, const Tensor& v);
enum Mistake {
  mask_late,
  over_queries,
  no_v,
  no_root,
  no_mask,
  inverted,
  only_future,
  by_T,
  zeros_in,
  low,
  turned,
  constant
};

static Tensor wrongly(Mistake mistake, const Tensor& q, const Tensor& k, const Tensor& v) {
  const double inf = std::numeric_limits<double>::infinity();
  const Tensor scores =
      matmul(q, transpose(k, -2, -1)) / (mistake == no_root ? 1 : std::sqrt(q.size(mistake == by_T ? -2 : -1)));
  Mask hidden = mistake == inverted ? causal_mask(q.size(-2)) : ~causal_mask(q.size(-2));
  if (mistake == only_future) hidden = hidden.transpose(0, 1);
  const Tensor masked = masked_fill(scores, hidden, mistake == zeros_in ? 0 : mistake == low ? -100 : -inf);
  const Tensor weights =
      softmax(mistake == no_mask || mistake == mask_late ? scores : masked, mistake == over_queries ? -2 : -1);
  if (mistake == constant) return tensor({{1, 2}, {3, 4}});
  if (mistake == no_v) return weights;
  if (mistake == turned) return matmul(transpose(weights, -2, -1), v);
  return matmul(mistake == mask_late ? masked_fill(weights, hidden, 0) : weights, v);
}

static void check(Attention my_attention) {
  for (const Shape& shape : {Shape{5, 4}, Shape{2, 3, 6, 2}, Shape{2, 1, 3}, Shape{4, 1}}) {
    const Tensor q = randn(shape, Generator(7)), k = randn(shape, Generator(8));
    const Tensor v = randn(shape.with(-1, 3), Generator(9));
    const Tensor got = my_attention(q, k, v), dy = randn(v.shape(), Generator(10));
    const auto expect_no = [&](Mistake mistake, const std::string& sentence) {
      if (q.dim() == 2 && q.size(0) == 5) expect_not(got, wrongly(mistake, q, k, v), sentence);
    };
    expect_no(mask_late, "You mask after softmax: the weights of a row no longer sum to 1. Mask the scores.");
    expect_no(over_queries,
              "Your softmax goes over the queries, down the columns: each row of weights should sum to 1.");
    expect_no(no_v, "These are the weights: the mean of the values by them, weights times v, is missing.");
    expect_no(turned, "Your weights are transposed before v: row i of the weights makes row i of y.");
    expect_no(no_root, "The scores are not divided by sqrt(d).");
    expect_no(by_T, "You divide by sqrt(T): what is summed in a score are the d numbers of a row, the last axis.");
    expect_no(no_mask, "Every token sees the whole text, the future, too: the mask is missing.");
    for (const Mistake mistake : {inverted, only_future})
      expect_no(mistake, "The mask is the wrong way round: -inf belongs to what comes after a token, ~causal_mask.");
    expect_no(zeros_in, "A score of 0 hides nothing, as e^0 is 1: what may not be seen gets -inf.");
    expect_close("my_attention of random q " + printed(shape), got, attention(q, k, v, {.causal = true}));
    expect_by_hand(my_attention(Tensor(q.array()).requires_grad_(), k, v), {"attention", "masked_softmax"});
    for (const char of : {'q', 'k', 'v'}) {
      const auto to = [&](Attention f) {
        const auto y = [&](const Tensor& t) { return f(of == 'q' ? t : q, of == 'k' ? t : k, of == 'v' ? t : v); };
        return gradient(y, of == 'q' ? q : of == 'k' ? k : v, dy);
      };
      const auto motes = [](const Tensor& q, const Tensor& k, const Tensor& v) {
        return attention(q, k, v, {.causal = true});
      };
      expect_close(std::string("the gradient of ") + of, to(my_attention), to(motes));
    }
  }
  const Tensor large = randn({6, 4}, Generator(3)) * 1000, k = randn({6, 4}, Generator(4));
  const Tensor heard = my_attention(large, k, k);
  if (!close(heard, attention(large, k, k, {.causal = true})))
    expect_not(heard, wrongly(low, large, k, k),
               "A score may be lower than the number by which you hide: only -inf hides always.");
}

#ifdef PROVE
namespace solution {
Tensor my_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  const Tensor scores = matmul(q, transpose(k, -2, -1)) / std::sqrt(q.size(-1));
  const Mask future = ~causal_mask(q.size(-2));
  const Tensor weights = softmax(masked_fill(scores, future, -std::numeric_limits<double>::infinity()));
  return matmul(weights, v);
}
}  // namespace solution

template <Mistake mistake>
static void with() {
  check([](const Tensor& q, const Tensor& k, const Tensor& v) { return wrongly(mistake, q, k, v); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::my_attention); }},
    {"mask late", "You mask after softmax", with<mask_late>},
    {"over queries", "over the queries", with<over_queries>},
    {"v forgotten", "These are the weights", with<no_v>},
    {"weights transposed", "are transposed before v", with<turned>},
    {"no root", "not divided by sqrt(d)", with<no_root>},
    {"sqrt(T)", "divide by sqrt(T)", with<by_T>},
    {"no mask", "sees the whole text", with<no_mask>},
    {"wrong way", "the wrong way round", with<inverted>},
    {"zeros", "A score of 0 hides nothing", with<zeros_in>},
    {"-100", "only -inf hides", with<low>},
    {"hard-coded", "my_attention of random q", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_attention); });
}
