// Lesson 5. Bigrams, the smallest language model. How often each letter comes after another is first counted, and
// then learned.
#include <algorithm>
#include <cmath>

#include "engine/engine.h"
#include "examples/lessons/lesson.h"
#include "examples/lessons/names.h"
#include "train/optim/sgd.h"

using namespace mote;

namespace {
/// All pairs of neighbours in the names: a symbol, also called a token, and the symbol that came after it.
struct Pairs {
  IntArray before, after;  // [N] each
};
Pairs all_pairs() {
  std::vector<Index> before, after;
  for (const std::string& name : names()) {
    before.push_back(0);
    for (const char c : name) {
      after.push_back(symbol(c));
      before.push_back(symbol(c));
    }
    after.push_back(0);
  }
  const Shape shape{static_cast<Index>(before.size())};
  return {IntArray(shape, before), IntArray(shape, after)};
}

/// The loss of a table of probabilities p, its cross-entropy. This is the average of -log p, where p is the
/// probability that the table gave to the symbol that really came. The loss is 0 if the table was always sure and
/// right, and ln V if the table gives all V symbols the same probability. embedding(p, ids) takes row ids[i] of p for
/// each i (lesson 6). From each of these rows gather() takes the column `after`.
double loss_of(const Tensor& p, const Pairs& pairs) {
  const Tensor chances = gather(embedding(p, pairs.before), 1, pairs.after.unsqueeze(1));
  return -number(mean(log(chances)));
}

std::string sample(const Tensor& p, const Generator& random) {
  std::string name;
  for (Index last = 0; name.size() < 20; name += letter(last)) {
    last = multinomial(select(p, 0, last), 1, random).item();
    if (last == 0) break;
  }
  return name;
}

void lesson() {
  const Pairs pairs = all_pairs();
  const Index N = pairs.before.numel();
  std::printf("%zu names have %lld pairs of neighbours, with the beginning and the end of a name as symbol 0.\n\n",
              names().size(), static_cast<long long>(N));

  // Counted: p(after | before) is how often `after` came after `before`, divided by how often any symbol came after
  // `before`.
  Array counts = Array::zeros({symbols, symbols});
  for (Index i = 0; i < N; ++i) counts.mutate()[pairs.before.data()[i] * symbols + pairs.after.data()[i]] += 1;
  const Tensor counted = Tensor(counts) / sum(Tensor(counts), {1}, true);
  const double best = loss_of(counted, pairs), uniform = loss_of(full({symbols, symbols}, 1.0 / symbols), pairs);
  std::printf("counted:  loss %.4f   (a table that knows nothing: %.4f; ln 27 = %.4f)\n", best, uniform,
              std::log(27.0));
  claim(std::abs(uniform - std::log(27.0)) < 1e-5, "who knows nothing pays ln 27, the logarithm of the choices");

  // Learned: a table of scores [27, 27], which begin as zeros. Softmax turns row `before` into probabilities, as in
  // lesson 4.
  Parameter scores(Array::zeros({symbols, symbols}));
  SGD optimizer({{.parameters = {{"scores", scores}}}}, {.lr = 50});  // few pairs use a score, so gradients are tiny
  double first = 0, last = 0;
  for (int step = 0; step <= 1000; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(embedding(scores, pairs.before), pairs.after);
    loss.backward();
    optimizer.step();
    last = number(loss);
    if (step == 0) first = last;
    if (step % 200 == 0) std::printf("step %4d: loss %.4f\n", step, last);
  }
  // The gradient of a row's scores is the sum of p - y over the row's pairs, divided by N (lesson 4). So the gradient
  // is 0 only where p is the counted share.
  const Tensor learned = softmax(scores);
  const double apart = number(max(abs(learned - counted)));
  std::printf("the learned table differs from the counted one by at most %.3f\n", apart);
  claim(std::abs(first - uniform) < 1e-5, "scores of zero know nothing");
  claim(last > best && last < best + 0.01 && apart < 0.05,
        "what is learned comes close to the counted table, and does not pay less");

  std::printf("\nNames from the table, each letter drawn with the probability that it has after the one before:\n ");
  const Generator random(1);
  for (int i = 0; i < 10; ++i) std::printf(" %s", sample(counted, random).c_str());
  std::printf(
      "\nIt knows one letter and forgets what was before. Hence the next lessons.\n\n"
      "Try: count what comes after two letters, 27 x 27 rows. What does it pay, and what for names it never saw?\n"
      "Now read examples/lessons/06_mlp_language_model.cpp: letters become vectors, and three of them are read.\n");
}
}  // namespace

int main(int, char** argv) { return run_lesson(argv, lesson, "token; language model; gather; multinomial; sampling"); }
