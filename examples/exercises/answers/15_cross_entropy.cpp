// Checks 15: cross-entropy.

// hint: Compute for all rows at once, each of shape [N, 1]: m, the log of the sum, and the logit at the target.
// hint: With keepdim: m = max(logits, {-1}, true), then mean(m + log(sum(exp(logits - m), {-1}, true)) - gather(...)).
// why: The loss of a uniform guess is log K: a new model that begins far above it is sure of wrong things.
// why: Its gradient by a row is p, less 1 at the target, over N: at most 1 / N, where it was sure and wrong.
// why: As a mean it does not depend on how many places a batch has, and neither does a good learning rate.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Loss = Tensor(const Tensor& logits, const IntArray& ids);
enum Mistake { summed, negative, base_2, down_columns, no_softmax, m_lost, twice, overflowing, rounded, constant };

static Tensor wrongly(Mistake mistake, const Tensor& logits, const IntArray& ids) {
  const auto cost = [&](const Tensor& log_p) { return -mean(gather(log_p, 1, ids.unsqueeze(1))); };
  if (mistake == down_columns) return cost(log_softmax(logits, 0));
  if (mistake == no_softmax) return cost(logits);
  if (mistake == m_lost) return cross_entropy(logits, ids) - mean(max(logits, {-1}));
  if (mistake == twice) return cross_entropy(softmax(logits), ids);
  if (mistake == overflowing) return cost(log(exp(logits) / sum(exp(logits), {-1}, true)));
  if (mistake == rounded) return cost(log(softmax(logits)));
  if (mistake == constant) return 0.41;
  const real n = static_cast<real>(logits.size(0));
  return cross_entropy(logits, ids) * (mistake == summed ? n : mistake == negative ? -1 : 1 / std::log(2.0));
}

static void check(Loss my_cross_entropy) {
  for (const Shape& shape : {Shape{5, 4}, Shape{3, 7}, Shape{1, 3}, Shape{2, 1}}) {
    const Tensor logits = rand(shape, Generator(7)) * 5;
    const IntArray ids = randint(0, shape[1], {shape[0]}, Generator(8));
    const Tensor got = my_cross_entropy(logits, ids);
    const auto expect_no = [&](Mistake mistake, const std::string& sentence) {
      if (shape == Shape{5, 4}) expect_not(got, wrongly(mistake, logits, ids), sentence);
    };
    expect_no(summed, "That is the sum over the rows: the loss is their mean.");
    expect_no(negative, "The sign: log p is below 0, and a cost is -log p.");
    expect_no(base_2, "That is the logarithm to the base 2: the loss uses the natural one, log.");
    expect_no(down_columns, "Your softmax goes down the columns: each row is one place, and its p sum to 1.");
    expect_no(no_softmax, "You take logits for log p: the softmax is missing, the log of the sum of each row.");
    expect_no(m_lost, "m was taken away before exp, but it has to be added again outside of the log.");
    expect_no(twice, "Softmax twice: the formula takes logits as they are, and not probabilities.");
    expect(got.defined() && got.dim() == 0, "The loss of random logits should be one number, of shape [].");
    expect_close("my_cross_entropy of random logits " + printed(shape), got.item(), cross_entropy(logits, ids).item());
    expect_by_hand(my_cross_entropy(Tensor(logits.array()).requires_grad_(), ids), {"cross_entropy", "log_softmax"});
    expect_close("its gradient", gradient([&](const Tensor& x) { return my_cross_entropy(x, ids); }, logits, 3),
                 gradient([&](const Tensor& x) { return cross_entropy(x, ids); }, logits, 3));
  }
  const auto expect_finite = [&](const Tensor& logits, const IntArray& ids, const std::string& sentence) {
    const Tensor got = my_cross_entropy(logits, ids);
    expect(std::isfinite(got.item()), sentence);
    expect_close("my_cross_entropy of " + printed(logits), got, cross_entropy(logits, ids));
  };
  expect_finite(tensor({{1000, 999}}), ints({0}), "e^1000 is inf: take m, the largest of the row, away before exp.");
  expect_finite(tensor({{1000, 999}, {0, 1}}), ints({0, 0}), "m has to be the largest of each row, not of all rows.");
  expect_finite(tensor({{1000, 0}}), ints({1}), "p = e^-1000 was rounded to 0, and -log 0 is inf: do not compute p.");
}

#ifdef PROVE
namespace solution {
Tensor my_cross_entropy(const Tensor& logits, const IntArray& ids) {
  const Tensor m = max(logits, {-1}, true), log_of_sum = m + log(sum(exp(logits - m), {-1}, true));
  return mean(log_of_sum - gather(logits, 1, ids.unsqueeze(1)));
}
}  // namespace solution

template <Mistake mistake>
static void with() {
  check([](const Tensor& logits, const IntArray& ids) { return wrongly(mistake, logits, ids); });
}
static const Tried tried[] = {
    {"solution", "", [] { check(solution::my_cross_entropy); }},
    {"sum", "That is the sum", with<summed>},
    {"sign", "The sign", with<negative>},
    {"base 2", "base 2", with<base_2>},
    {"columns", "down the columns", with<down_columns>},
    {"softmax forgotten", "logits for log p", with<no_softmax>},
    {"m lost", "added again outside", with<m_lost>},
    {"softmax twice", "Softmax twice", with<twice>},
    {"overflows", "e^1000 is inf", with<overflowing>},
    {"log of 0", "rounded to 0", with<rounded>},
    {"hard-coded", "my_cross_entropy of random", with<constant>},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_cross_entropy); });
}
