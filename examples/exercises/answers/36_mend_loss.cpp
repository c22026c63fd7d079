// Checks 36: mend a classifier that is never content.

// hint: What does cross_entropy take, probabilities or scores?
// hint: cross_entropy begins with a softmax, so leave softmax out of forward(). The argmax of scores is the same class.
// why: Softmax of numbers from 0 to 1 is nearly uniform. A sure answer, a 1 and nine zeros, becomes 0.23 for the 1.
// why: With a second softmax the lowest loss is -ln 0.23 = 1.46. The gradient passes it, too, and becomes smaller.
// why: A softmax may round a small probability to 0, and log(0) is -inf. A loss that takes scores can avoid this.
#include "examples/exercises/answers/check.h"

namespace of_check {
/// Computes the loss for scores z [N, classes].
using Loss = Tensor(const Tensor& z, const IntArray& classes);
static Tensor right_loss(const Tensor& z, const IntArray& classes) { return cross_entropy(z, classes); }

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

struct Scores : Layer<Scores> {
  Linear hidden, out;
  Scores(Index inputs, Index width, Index classes, const Generator& random)
      : hidden(inputs, width, random), out(width, classes, random) {}
  Tensor forward(const Tensor& x) const { return out(tanh(hidden(x))); }
  void visit(Visitor& v) override { v("hidden", hidden), v("out", out); }
};
template <Loss* loss>
std::vector<double> train_with(const Scores& model, const Tensor& x, const IntArray& classes, int steps) {
  return train_on(model, steps, 0.5, [&] { return loss(model(x), classes); });
}

template <class Model>
void check(std::vector<double> (*train)(const Model&, const Tensor&, const IntArray&, int)) {
  for (const Index V : {10, 3}) {
    const Model model(4, 6, V, Generator(V));
    const Scores right(4, 6, V, Generator(V));
    const Tensor x = randn({12, 4}, Generator(1)) * 2;
    const IntArray classes = randint(0, V, {12}, Generator(2));
    const std::vector<double> losses = train(model, x, classes, 4);
    const std::vector<double> wanted = train_with<right_loss>(right, x, classes, 4);
    expect(losses.size() == 4, "train_classifier(model, x, classes, 4) is to take 4 steps and to return 4 losses.");
    expect_close("The loss of the first step", losses[0], wanted[0]);
    expect(close(tensor(losses), tensor(wanted)), "another training");
    expect_close("The weight of `out` after 4 steps", model.out.weight, right.out.weight);
    for (const Linear* out : {&model.out, &right.out})
      out->weight.set(out->weight.value() * 1e4);  // so the scores are thousands
    expect(close(train(model, x, classes, 1)[0], train_with<right_loss>(right, x, classes, 1)[0]), "rounded to 0");
    expect(close(model.out.weight, right.out.weight), "rounded to 0");
  }
}

static Tensor of_right(const Tensor& y, const IntArray& classes) { return gather(y, 1, classes.unsqueeze(1)); }
static Tensor twice(const Tensor& z, const IntArray& classes) { return cross_entropy(softmax(z), classes); }
static Tensor of_columns(const Tensor& z, const IntArray& classes) { return cross_entropy(softmax(z, 0), classes); }
static Tensor no_log(const Tensor& z, const IntArray& classes) { return -mean(of_right(softmax(z), classes)); }
static Tensor total(const Tensor& z, const IntArray& classes) {
  return cross_entropy(z, classes) * static_cast<double>(classes.numel());
}
static Tensor bare(const Tensor& z, const IntArray& classes) { return -mean(of_right(z, classes)); }
static Tensor log_of_p(const Tensor& z, const IntArray& classes) { return -mean(of_right(log(softmax(z)), classes)); }
static Tensor clamped(const Tensor& z, const IntArray& classes) {
  return -mean(log(clamp(of_right(softmax(z), classes), 1e-12)));
}
static Tensor added(const Tensor& z, const IntArray& classes) {
  return -mean(log(of_right(softmax(z), classes) + 1e-12));
}

template <Loss* loss>
void wrongly() {
  check<Scores>(train_with<loss>);
}
static const Row<void()> rows[] = {
    {"softmax twice",
     "Softmax is taken twice: so this loss cannot come near 0, even for a model that is right and quite sure.",
     wrongly<twice>},
    {"softmax of columns", "Softmax over axis 0 makes the points compete, not the classes of each point.",
     wrongly<of_columns>},
    {"no logarithm",
     "This is minus the mean probability of the right class: the loss is minus the mean of its logarithm.",
     wrongly<no_log>},
    {"sum", "This is the sum over all points, but the loss is their mean: with more points it must not grow.",
     wrongly<total>},
    {"no softmax",
     "This takes the scores themselves for logarithms of probabilities: then it has no lower limit. They need softmax "
     "once.",
     wrongly<bare>},
    {"rounded to 0",
     "A model that is sure and wrong gives the right class a probability that is rounded to 0: then the loss is "
     "infinite, or limited by the number that you put there. cross_entropy takes scores, without a softmax before it.",
     wrongly<log_of_p>, wrongly<clamped>, wrongly<added>},
    {"another training",
     "The loss is right now, but a step no longer does what it did: optimizer and learning rate were right.",
     [] {
       check<Scores>([](const Scores& model, const Tensor& x, const IntArray& classes, int steps) {
         return train_on(model, steps, 5, [&] { return cross_entropy(model(x), classes); });
       });
     }},
    {"hard-coded", of_example,
     [] {
       check<Scores>([](const Scores&, const Tensor&, const IntArray&, int) {
         return std::vector<double>{2.29, 2.102, 1.886, 1.538};
       });
     }},
};
static const Table table(rows);

#ifdef PROVE
namespace solution {
struct Classifier : Layer<Classifier> {
  Linear hidden, out;

  Classifier(Index inputs, Index width, Index classes, const Generator& random)
      : hidden(inputs, width, random), out(width, classes, random) {}

  /// Scores for each class, from which cross_entropy makes probabilities: x [N, inputs] -> [N, classes].
  Tensor forward(const Tensor& x) const { return out(tanh(hidden(x))); }
  void visit(Visitor& v) override { v("hidden", hidden), v("out", out); }
};
}  // namespace solution
static std::vector<double> train_solved(const solution::Classifier& model, const Tensor& x, const IntArray& classes,
                                        int steps) {
  return train_on(model, steps, 0.5, [&] { return cross_entropy(model(x), classes); });
}
static const Right right([] { check<solution::Classifier>(train_solved); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(train_classifier); });
}
