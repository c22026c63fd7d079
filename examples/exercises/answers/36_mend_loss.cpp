// Checks 36: mend a classifier that is never content.

// hint: diagnose() would say: LOOK the logits are all positive and sum to 1. What does cross_entropy take?
// hint: Its first step is a softmax. So leave softmax out of forward(): argmax of the scores is the same class.
// why: Softmax of numbers between 0 and 1 is nearly even: of a 1 and nine 0, a sure answer, it makes 0.23 for the 1.
// why: So the least loss is -ln 0.23 = 1.46, and every gradient passes one more softmax, which makes it smaller.
// why: A loss takes scores as they are, also since log and softmax are exact only in one: log(0) is -infinity.
#include "examples/exercises/answers/check.h"

namespace of_check {
enum Mistake { none, twice, by_column, no_log, total, bare, fast, constant };

/// The loss for scores z [N, classes], from its formula or by mistake.
static Tensor loss_of(const Tensor& z, const IntArray& classes, Mistake mistake) {
  const auto of_right = [at = classes.unsqueeze(1)](const Tensor& y) { return gather(y, 1, at); };  // [N, 1]
  if (mistake == twice) return cross_entropy(softmax(z), classes);
  if (mistake == by_column) return cross_entropy(softmax(z, 0), classes);
  if (mistake == no_log) return -mean(of_right(softmax(z)));
  if (mistake == bare) return -mean(of_right(z));
  const Tensor each = log(sum(exp(z), {1}, true)) - of_right(z);
  return mistake == total ? sum(each) : mean(each);
}

static std::vector<double> train_on(const Module& model, int steps, double lr,
                                    const std::function<Tensor()>& loss_of_step) {
  SGD optimizer(all_parameters(model), {.lr = lr});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = loss_of_step();
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

template <class Model, Mistake mistake>
std::vector<double> train_with(const Model& model, const Tensor& x, const IntArray& classes, int steps) {
  if (mistake == constant) return {2.29, 2.102, 1.886, 1.538};
  return train_on(model, steps, mistake == fast ? 5 : 0.5,
                  [&] { return loss_of(model.out(tanh(model.hidden(x))), classes, mistake); });
}

template <class Model>
void check(std::vector<double> (*train)(const Model&, const Tensor&, const IntArray&, int)) {
  for (const Index V : {10, 3}) {
    const Model model(4, 6, V, Generator(V)), right(4, 6, V, Generator(V));
    const Tensor x = randn({12, 4}, Generator(1)) * 2, z = right.out(tanh(right.hidden(x)));
    const IntArray classes = randint(0, V, {12}, Generator(2));
    const std::vector<double> losses = train(model, x, classes, 4);
    expect(losses.size() == 4, "train_classifier(model, x, classes, 4) is to take 4 steps and to return 4 losses.");
    const auto is_not = [&](Mistake m, const std::string& sentence) {
      expect_not(losses[0], loss_of(z, classes, m), sentence);
    };
    is_not(twice, "With " + printed(V) + " classes this loss cannot come below " +
                      printed(std::log(V - 1 + std::exp(1)) - 1) + ", even for a model that is right and quite sure.");
    is_not(by_column, "Softmax over axis 0 makes the points compete, not the classes of each point.");
    is_not(no_log,
           "This is minus the mean probability of the right class: the loss is minus the mean of its logarithm.");
    is_not(total,
           "This is the sum over all points, but the loss is their mean: with more points its gradient must not grow.");
    is_not(bare,
           "This takes the scores themselves for logarithms of probabilities: then it has no lower limit. They need "
           "softmax once.");
    expect_close("The loss of the first step", losses[0], loss_of(z, classes, none).item());
    expect(close(tensor(losses), tensor(train_with<Model, none>(right, x, classes, 4))),
           "The loss is right now, but a step no longer does what it did: optimizer and learning rate were right.");
    expect_close("The weight of `out` after 4 steps", model.out.weight, right.out.weight);
    model.out.weight.set(model.out.weight.value() * 1e4);  // scores of thousands
    expect(std::isfinite(train(model, x, classes, 1)[0]),
           "A model that is very sure and wrong has a loss of infinity: that is log(softmax), whose softmax has become "
           "0.");
  }
}

#ifdef PROVE
namespace solution {
struct Classifier : Layer<Classifier> {
  Linear hidden, out;

  Classifier(Index inputs, Index width, Index classes, const Generator& random)
      : hidden(inputs, width, random), out(width, classes, random) {}

  /// Scores for each class, which cross_entropy makes probabilities of: x [N, inputs] -> [N, classes].
  Tensor forward(const Tensor& x) const { return out(tanh(hidden(x))); }
  void visit(Visitor& v) override { v("hidden", hidden), v("out", out); }
};
}  // namespace solution

using Solved = solution::Classifier;
static std::vector<double> train_solved(const Solved& model, const Tensor& x, const IntArray& classes, int steps) {
  return train_on(model, steps, 0.5, [&] { return cross_entropy(model(x), classes); });
}
static const Tried tried[] = {
    {"solution", "", [] { check<Solved>(train_solved); }},
    {"softmax of columns", "makes the points compete", [] { check(train_with<Solved, by_column>); }},
    {"no logarithm", "minus the mean probability", [] { check(train_with<Solved, no_log>); }},
    {"sum", "is the sum over all points", [] { check(train_with<Solved, total>); }},
    {"no softmax", "has no lower limit", [] { check(train_with<Solved, bare>); }},
    {"another learning rate", "no longer does what it did", [] { check(train_with<Solved, fast>); }},
    {"hard-coded", "The loss of the first step", [] { check(train_with<Solved, constant>); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(train_classifier); });
}
