// Checks 32: mend a loss that falls too far.

// hint: diagnose() would print "LOOK of the targets 100 % are the symbol itself". Which symbol should the target be?
// hint: Let T = rows.shape()[1]. The model reads rows.slice(1, 0, T - 1), and its targets are rows.slice(1, 1, T).
// why: A model learns to predict its targets. The symbol that it has just read is easy to predict, so the loss is 0.
// why: The last symbol of a row has no next one, so T symbols make T - 1 examples.
// why: A loss below the best possible loss is no success. It means that the model is shown the answer somewhere.
#include "examples/exercises/answers/check.h"

Sequential bigram_model(Index symbols, const Generator& random);

namespace of_check {
using Train = std::vector<double>(const Sequential& model, const IntArray& rows, int steps);

/// Returns the target of element i of x, whose rows have T symbols each. The loss ignores a target of -100.
using Target = Index(const std::vector<Index>& x, Index i, Index T);
static IntArray targets_of(const IntArray& rows, Target target) {
  const std::vector<Index> x = rows.to_vector();
  IntArray y(rows.shape(), -100);
  for (Index i = 0; i < rows.numel(); ++i) y.mutate()[i] = target(x, i, rows.shape()[1]);
  return y;
}
/// The symbol `shift` positions further on in the same row, or -100 if there is none.
template <int shift>
static Index shifted(const std::vector<Index>& x, Index i, Index T) {
  const Index t = i % T + shift;
  return t >= 0 && t < T ? x[i + shift] : -100;
}

static std::vector<double> train_with(const Sequential& model, const IntArray& rows, int steps, Target target,
                                      double lr) {
  AdamW optimizer(all_parameters(model), {.lr = lr});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(rows), targets_of(rows, target));
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

static void check(Train train) {
  for (const Index V : {7, 5}) {
    IntArray rows = randint(1, 3, {V + 1, 6}, Generator(V));
    for (Index i = 1; i < rows.numel(); ++i) rows.mutate()[i] = (rows.data()[i - 1] + rows.data()[i]) % V;
    const Sequential model = bigram_model(V, Generator(1)), right = bigram_model(V, Generator(1));
    const std::vector<double> losses = train(model, rows, 4), wanted = train_with(right, rows, 4, shifted<1>, 0.03);
    expect(losses.size() == 4, "train_bigrams(model, rows, 4) is to take 4 steps and to return 4 losses.");
    expect_close("The loss of the first step", losses[0], wanted[0]);
    expect(close(tensor(losses), tensor(wanted)), "another training");
    const IntArray all = argmax(eye(V));
    expect_close("What the model says after each symbol, trained for 4 steps,", model(all), right(all));
  }
}

static Index wrapped(const std::vector<Index>& x, Index i, Index T) { return i % T + 1 < T ? x[i + 1] : x[i + 1 - T]; }
static Index padded(const std::vector<Index>& x, Index i, Index T) { return i % T + 1 < T ? x[i + 1] : 0; }
static Index across(const std::vector<Index>& x, Index i, Index) { return i + 1 < std::ssize(x) ? x[i + 1] : -100; }
template <Target* target>
static std::vector<double> wrongly(const Sequential& model, const IntArray& rows, int steps) {
  return train_with(model, rows, steps, target, 0.03);
}

static const Row<Train> rows[] = {
    {"copies", "This loss is 0 for a model that says again what it has just read. Is that what it is to say?",
     wrongly<shifted<0>>},
    {"backwards", "The wrong way round: at each symbol the model is to say the one before it.", wrongly<shifted<-1>>},
    {"skips one", "Shifted twice: the model is to say the symbol after the next one.", wrongly<shifted<2>>},
    {"at the end of a row",
     "Behind the end of a row nobody knows what comes: leave this place out, and put nothing there.", wrongly<wrapped>,
     wrongly<padded>},
    {"across rows", "After the end of a row comes the beginning of another: do not shift across the ends of rows.",
     wrongly<across>},
    {"another training",
     "The first loss is right, but a step no longer does what it did: optimizer and learning rate were right.",
     [](const Sequential& model, const IntArray& rows, int steps) {
       return train_with(model, rows, steps, shifted<1>, 0.003);
     }},
    {"hard-coded", "The loss is ln 2 from the beginning, which no model is that has not been trained.",
     [](const Sequential&, const IntArray&, int steps) { return std::vector<double>(steps, std::log(2.0)); }},
};
static const Table table(check, rows);

#ifdef PROVE
namespace solution {
std::vector<double> train_bigrams(const Sequential& model, const IntArray& rows, int steps) {
  AdamW optimizer(all_parameters(model), {.lr = 0.03});
  const Index T = rows.shape()[1];
  const IntArray read = rows.slice(1, 0, T - 1), next = rows.slice(1, 1, T);
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(read), next);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}
}  // namespace solution
static const Right right([] { check(solution::train_bigrams); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(train_bigrams); });
}
