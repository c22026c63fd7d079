// Checks 15: cross-entropy.

// hint: Compute three columns of shape [N, 1] for all rows at once: m, the log of the sum, and the logit at the target.
// hint: Let m = max(logits, {-1}, true). Return mean(m + log(sum(exp(logits - m), {-1}, true)) - gather(...)).
// why: The loss of a uniform guess is log K. If a new model begins far above log K, it is sure of wrong answers.
// why: The gradient for a row of logits is (p - one_hot) / N. It is large only if the model was sure and wrong.
// why: Because the loss is a mean, neither its size nor a good learning rate depends on the number of positions.
#include "examples/exercises/answers/check.h"

namespace of_check {
using Loss = Tensor(const Tensor& logits, const IntArray& ids);

static void check(Loss my_cross_entropy) {
  const auto expect_loss = [&](const std::string& of, const Tensor& logits, const IntArray& ids) {
    expect_close("my_cross_entropy of " + of, my_cross_entropy(logits, ids), cross_entropy(logits, ids));
    expect_close("the gradient of " + of,
                 gradient([&](const Tensor& x) { return my_cross_entropy(x, ids); }, logits, 3),
                 gradient([&](const Tensor& x) { return cross_entropy(x, ids); }, logits, 3));
  };
  for (const Shape& shape : {Shape{5, 4}, Shape{4, 4}, Shape{3, 7}, Shape{1, 3}, Shape{2, 1}}) {
    const Tensor logits = rand(shape, Generator(7)) * 5;
    const IntArray ids = randint(0, shape[1], {shape[0]}, Generator(8));
    expect_loss("random logits " + printed(shape), logits, ids);
    expect_by_hand(my_cross_entropy(Tensor(logits.array()).requires_grad_(), ids), {"cross_entropy", "log_softmax"});
  }
  expect_loss("the logits 1000 and 999", tensor({{1000, 999}}), ints({0}));
  expect_loss("the logits -1000 and -999", tensor({{-1000, -999}}), ints({0}));
  expect_loss("two rows of which one lies far below the other", tensor({{1000, 999}, {0, 1}}), ints({0, 0}));
  expect_loss("the logits 1 and -inf", tensor({{1, -INFINITY}}), ints({0}));
  const Tensor sure = tensor({{1000, 0}});
  expect(close(my_cross_entropy(sure, ints({1})), 1000), "large logits");
}

static Tensor cost(const Tensor& log_p, const IntArray& ids) { return -mean(gather(log_p, 1, ids.unsqueeze(1))); }

static const Row<Loss> rows[] = {
    {"not the mean", "That is the sum over the rows, or a cost for each: the loss is their mean, one number.",
     [](const Tensor& logits, const IntArray& ids) {
       return cross_entropy(logits, ids) * static_cast<double>(ids.numel());
     },
     [](const Tensor& logits, const IntArray& ids) { return -gather(log_softmax(logits), 1, ids.unsqueeze(1)); }},
    {"sign", "The sign: log p is below 0, and a cost is -log p.",
     [](const Tensor& logits, const IntArray& ids) { return -cross_entropy(logits, ids); }},
    {"softmax forgotten", "You take logits for log p: the softmax is missing, the log of the sum of each row.",
     [](const Tensor& logits, const IntArray& ids) { return cost(logits, ids); }},
    {"columns", "Your softmax goes down the columns, or over everything: each row is one place, and its p sum to 1.",
     [](const Tensor& logits, const IntArray& ids) { return cost(log_softmax(logits, 0), ids); },
     [](const Tensor& logits, const IntArray& ids) {
       const Tensor m = max(logits);
       return m + log(sum(exp(logits - m))) - mean(gather(logits, 1, ids.unsqueeze(1)));
     }},
    {"m lost", "m was taken away before exp, but it has to be added again outside of the log.",
     [](const Tensor& logits, const IntArray& ids) { return cross_entropy(logits, ids) - mean(max(logits, {-1})); }},
    {"softmax twice", "Softmax twice: the formula takes logits as they are, and not probabilities.",
     [](const Tensor& logits, const IntArray& ids) { return cross_entropy(softmax(logits), ids); }},
    {"large logits",
     "e^1000 is inf, and e^-1000 is rounded to 0: before exp take away m of the same row. Compute no p.",
     [](const Tensor& logits, const IntArray& ids) {
       return cost(log(exp(logits) / sum(exp(logits), {-1}, true)), ids);
     },
     [](const Tensor& logits, const IntArray& ids) { return cost(logits - log(sum(exp(logits), {-1}, true)), ids); },
     [](const Tensor& logits, const IntArray& ids) {
       const Tensor m = max(logits);
       return mean(m + log(sum(exp(logits - m), {-1}, true)) - gather(logits, 1, ids.unsqueeze(1)));
     },
     [](const Tensor& logits, const IntArray& ids) {
       const Tensor m = relu(max(logits, {-1}, true));
       return mean(m + log(sum(exp(logits - m), {-1}, true)) - gather(logits, 1, ids.unsqueeze(1)));
     },
     [](const Tensor& logits, const IntArray& ids) { return cost(log(softmax(logits)), ids); },
     [](const Tensor& logits, const IntArray& ids) { return cost(log(softmax(logits) + 1e-12), ids); },
     [](const Tensor& logits, const IntArray& ids) { return cost(log(clamp(softmax(logits), 1e-12)), ids); }},
    {"hard-coded", of_example, [](const Tensor&, const IntArray&) { return Tensor(0.41); }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
Tensor my_cross_entropy(const Tensor& logits, const IntArray& ids) {
  const Tensor m = max(logits, {-1}, true), log_of_sum = m + log(sum(exp(logits - m), {-1}, true));
  return mean(log_of_sum - gather(logits, 1, ids.unsqueeze(1)));
}
}  // namespace solution
static const Right right([] { check(solution::my_cross_entropy); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(my_cross_entropy); });
}
