// Checks 32: mend a loss that falls too far.

// hint: diagnose() would say: LOOK of the targets 100 % are the symbol itself. Which one has the model to say at t?
// hint: With T = rows.shape()[1], let it read rows.slice(1, 0, T - 1), and give it rows.slice(1, 1, T) as targets.
// why: What is given as target is what is learned, and to say the symbol that one has just read takes no thought.
// why: The last symbol of a row has no next one, so T symbols make T - 1 examples.
// why: A loss below what can be known is no success: somewhere the model is shown the answer.
#include "examples/exercises/answers/check.h"

Sequential bigram_model(Index symbols, const Generator& random);

namespace of_check {

using Train = std::vector<double>(const Sequential& model, const IntArray& rows, int steps);
enum Mistake { none, copies, backwards, skips, wraps, pads, runs_on, slow, constant };
static const std::map<Mistake, std::string> sentences = {
    {copies, "This loss is 0 for a model that says again what it has just read. Is that what it is to say?"},
    {backwards, "The wrong way round: at each symbol the model is to say the one before it."},
    {skips, "Shifted twice: the model is to say the symbol after the next one."},
    {wraps, "At the end of a row the model is to say the first symbol again. What comes there nobody knows."},
    {pads, "At the end of a row the model is to say 0, which did not come there: leave this place out."},
    {runs_on, "After the end of a row comes the beginning of another: do not shift across the ends of rows."},
};

/// What is to be said at each position, rightly or by mistake; -100 does not count.
static IntArray targets_of(const IntArray& rows, Mistake mistake) {
  const std::vector<Index> x = rows.to_vector();
  const Index n = std::ssize(x), T = rows.shape()[1];
  IntArray y(rows.shape(), -100);
  for (Index i = 0; i < n; ++i) {
    const Index begin = i / T * T, j = i + (mistake == copies      ? 0
                                            : mistake == backwards ? -1
                                            : mistake == skips     ? 2
                                                                   : 1);
    const bool inside = j >= begin && j < begin + T;
    if (inside || (mistake == runs_on && j < n)) y.mutate()[i] = x[j];
    if (!inside && mistake == wraps) y.mutate()[i] = x[begin];
    if (!inside && mistake == pads) y.mutate()[i] = 0;
  }
  return y;
}

template <Mistake mistake>
std::vector<double> train_with(const Sequential& model, const IntArray& rows, int steps) {
  if (mistake == constant) return std::vector<double>(steps, std::log(2.0));
  AdamW optimizer(all_parameters(model), {.lr = mistake == slow ? 0.003 : 0.03});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    const Tensor loss = cross_entropy(model(rows), targets_of(rows, mistake));
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
    const Tensor scores = right(rows);  // before any step
    const std::vector<double> losses = train(model, rows, 4);
    expect(losses.size() == 4, "train_bigrams(model, rows, 4) is to take 4 steps and to return 4 losses.");
    for (const auto& [mistake, sentence] : sentences)
      expect_not(losses[0], cross_entropy(scores, targets_of(rows, mistake)), sentence);
    expect_close("The loss of the first step", losses[0], cross_entropy(scores, targets_of(rows, none)).item());
    expect(close(tensor(losses), tensor(train_with<none>(right, rows, 4))),
           "The first loss is right, but a step no longer does what it did: optimizer and learning rate were right.");
    const IntArray all = argmax(eye(V));
    expect_close("What the model says after each symbol, trained for 4 steps,", model(all), right(all));
  }
}

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

static const Tried tried[] = {
    {"solution", "", [] { check(solution::train_bigrams); }},
    {"backwards", "wrong way round", [] { check(train_with<backwards>); }},
    {"skips one", "Shifted twice", [] { check(train_with<skips>); }},
    {"wraps around", "first symbol again", [] { check(train_with<wraps>); }},
    {"pads with 0", "leave this place out", [] { check(train_with<pads>); }},
    {"across rows", "across the ends of rows", [] { check(train_with<runs_on>); }},
    {"another learning rate", "no longer does what it did", [] { check(train_with<slow>); }},
    {"hard-coded", "The loss of the first step", [] { check(train_with<constant>); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check(train_bigrams); });
}
