// Checks 34: mend a model that foresees dice.

// hint: diagnose() would say: LOOK ... it sees the answer: the causal mask is missing. Which weights [T, T] may be > 0?
// hint: masked_softmax(x, causal_mask(T)) is softmax over what the mask keeps: for row t the columns 0 to t.
// why: At position t the target is the symbol at t + 1, so whoever looks one position ahead has only to copy it.
// why: When it writes, there is no position ahead: what was learned from the future is worth nothing then.
// why: Held-out rows did not show it, since they hold their answers, too. Only to write is an honest test.
#include "examples/exercises/answers/check.h"

namespace of_check {
enum Mistake { none, inverted, strict, filled, low, late, deaf, constant };
static const std::map<Mistake, std::string> sentences = {
    {inverted, "The wrong way round: at each position your model listens to what comes later, and only to that."},
    {strict, "Your model no longer listens to the throw at its own position, which has been thrown, too."},
    {filled, "A match of 0 is not hidden: exp(0) is 1, so softmax gives it weight. Use -inf or masked_softmax."},
    {late, "Weights set to 0 after softmax no longer sum to 1, and the sum that divided them knew the future."},
    {deaf, "Now your model listens to nothing but its own position: mend attention, do not take it away."},
};

/// What the model should say, or says by mistake.
template <class Model>
Tensor scores_of(const Model& m, const IntArray& ids, Mistake mistake) {
  const Index T = ids.shape()[1];
  const Tensor x = m.side(ids) + m.place(T), at = arange(double(T));
  const Tensor match = matmul(m.query(x), transpose(m.key(x), 1, 2)) / std::sqrt(double(x.size(2)));
  const Mask past = causal_mask(T), before = unsqueeze(at, 0) < unsqueeze(at, 1);
  Tensor weights = masked_softmax(match, mistake == inverted ? ~past : mistake == strict ? before : past);
  if (mistake == filled || mistake == low) weights = softmax(where(past, match, mistake == low ? -100 : 0));
  if (mistake == late) weights = tril(softmax(match));
  if (mistake == deaf) weights = weights * 0;
  return m.scores(x + matmul(weights, m.value(x))) * double(mistake != constant);
}

using Batches = std::vector<IntArray>;
template <class Model>
std::vector<double> train_on(const Model& model, const Batches& batches) {
  AdamW optimizer(all_parameters(model), {.lr = 0.01});
  std::vector<double> losses;
  for (const IntArray& ids : batches) {
    optimizer.zero_grad();
    const Tensor all = scores_of(model, ids, none);
    const Tensor loss = cross_entropy(slice(all, 1, 0, ids.shape()[1] - 1), ids.slice(1, 1, ids.shape()[1]));
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

template <class Model>
void check(std::vector<double> (*train)(const Model&, const Batches&) = train_on<Model>) {
  for (const Index T : {6, 4, 1}) {
    const Model model(T + 2, 3, Generator(T)), right(T + 2, 3, Generator(T));
    const IntArray ids = randint(0, 6, {2, T}, Generator(T));
    IntArray others = ids;
    for (const Index last : {T - 1, 2 * T - 1}) others.mutate()[last] = (ids.data()[last] + 1) % 6;
    const Tensor got = model.forward(ids);
    const auto middle = [T](const Tensor& x) { return slice(x, 1, 1, T - 1); };
    for (const auto& [mistake, sentence] : sentences)
      if (T > 1) expect_not(middle(got), middle(scores_of(model, ids, mistake)), sentence);
    expect(T == 1 || close(slice(got, 1, 0, T - 1), slice(model.forward(others), 1, 0, T - 1)),
           "With another last throw, your model says something else at earlier positions, too.");
    expect_close("What an untrained model says", got, scores_of(model, ids, none));
    if (T == 1) continue;
    const Batches batches(3, ids);
    expect(close(tensor(train(model, batches)), tensor(train_on(right, batches))),
           "The model is right now, but a step no longer does what it did: nothing was wrong in train_on_dice().");
    expect_close("What the model says after 3 steps", model.forward(ids), scores_of(right, ids, none));
  }
  const Model sure(5, 3, Generator(7));
  sure.query.weight.set(sure.query.weight.value() * 1e4);
  const IntArray five = randint(0, 6, {2, 5}, Generator(3));
  if (const Tensor wrong = scores_of(sure, five, low); !close(wrong, scores_of(sure, five, none)))
    expect_not(sure.forward(five), wrong, "A match may be lower than the number by which you hide: only -inf hides.");
}

#ifdef PROVE
namespace solution {
struct DiceModel : Layer<DiceModel> {
  Embedding side;
  LearnedPositions place;
  Linear query, key, value, scores;

  /// For up to T throws in a row, with vectors of width C.
  DiceModel(Index T, Index C, const Generator& r)
      : side(6, C, r), place(T, C, r), query(C, C, r), key(C, C, r), value(C, C, r), scores(C, 6, r) {}

  /// ids [B, T] -> [B, T, 6]: at each position scores for the next throw.
  Tensor forward(const IntArray& ids) const {
    const Index T = ids.shape()[1];
    const Tensor x = side(ids) + place(T);
    const Tensor match = matmul(query(x), transpose(key(x), 1, 2)) / std::sqrt(double(x.size(2)));
    const Tensor weights = masked_softmax(match, causal_mask(T));
    return scores(x + matmul(weights, value(x)));
  }
  void visit(Visitor& v) override {
    v("side", side), v("place", place), v("query", query), v("key", key), v("value", value), v("scores", scores);
  }
};
}  // namespace solution

template <Mistake mistake>
struct Wrongly : Layer<Wrongly<mistake>> {
  Embedding side;
  LearnedPositions place;
  Linear query, key, value, scores;

  Wrongly(Index T, Index C, const Generator& r)
      : side(6, C, r), place(T, C, r), query(C, C, r), key(C, C, r), value(C, C, r), scores(C, 6, r) {}
  Tensor forward(const IntArray& ids) const { return scores_of(*this, ids, mistake); }
  void visit(Visitor& v) override {
    v("side", side), v("place", place), v("query", query), v("key", key), v("value", value), v("scores", scores);
  }
};
static const Tried tried[] = {
    {"solution", "", [] { check<solution::DiceModel>(); }},
    {"inverted", "wrong way round", [] { check<Wrongly<inverted>>(); }},
    {"hides itself", "its own position, which", [] { check<Wrongly<strict>>(); }},
    {"fills with 0", "is not hidden", [] { check<Wrongly<filled>>(); }},
    {"after softmax", "no longer sum to 1", [] { check<Wrongly<late>>(); }},
    {"no attention", "do not take it away", [] { check<Wrongly<deaf>>(); }},
    {"-100", "only -inf hides", [] { check<Wrongly<low>>(); }},
    {"hard-coded", "an untrained model", [] { check<Wrongly<constant>>(); }},
};
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check<DiceModel>(train_on_dice); });
}
