// Checks 34: mend a model that foresees dice.

// hint: Which of the weights [T, T] may be above 0?
// hint: masked_softmax(x, causal_mask(T)) takes softmax over what the mask keeps, which is columns 0 to t in row t.
// why: At position t the target is the symbol at t + 1, so a model that looks one position ahead only has to copy it.
// why: When the model writes, there is no later position, so all that it learned from later positions is useless.
// why: Held-out rows would not show the mistake, because they contain their answers, too. Only writing is a fair test.
#include "examples/exercises/answers/check.h"

namespace of_check {
/// Computes attention weights from the products of queries and keys: [B, T, T] -> [B, T, T].
using Weights = Tensor(const Tensor& match);
/// The result of forward(), if attention computes its weights by the function `weights`.
template <class Model>
Tensor scores_of(const Model& m, const IntArray& ids, Weights weights) {
  const Tensor x = m.side(ids) + m.place(ids.shape()[1]);
  const Tensor match = matmul(m.query(x), transpose(m.key(x), 1, 2)) / std::sqrt(double(x.size(2)));
  return m.scores(x + matmul(weights(match), m.value(x)));
}

static Mask past(const Tensor& match) { return causal_mask(match.size(-1)); }
static Tensor right_weights(const Tensor& match) { return masked_softmax(match, past(match)); }

using Batches = std::vector<IntArray>;
template <class Model>
std::vector<double> train_on(const Model& model, const Batches& batches, double lr) {
  AdamW optimizer(all_parameters(model), {.lr = lr});
  std::vector<double> losses;
  for (const IntArray& ids : batches) {
    const Tensor all = scores_of(model, ids, right_weights);
    const Tensor loss = cross_entropy(slice(all, 1, 0, ids.shape()[1] - 1), ids.slice(1, 1, ids.shape()[1]));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}
template <class Model>
std::vector<double> rightly(const Model& model, const Batches& batches) {
  return train_on(model, batches, 0.01);
}
template <class Model>
std::vector<double> slowly(const Model& model, const Batches& batches) {
  return train_on(model, batches, 0.001);
}

template <class Model>
void check(std::vector<double> (*train)(const Model&, const Batches&)) {
  for (const Index T : {6, 4, 1}) {
    const Model model(T + 2, 3, Generator(T)), right(T + 2, 3, Generator(T));
    const IntArray ids = randint(0, 6, {2, T}, Generator(T));
    expect_close("What an untrained model says", model.forward(ids), scores_of(right, ids, right_weights));
    if (T == 1) continue;
    const Batches batches(3, ids);
    expect(close(tensor(train(model, batches)), tensor(rightly(right, batches))), "another training");
    expect_close("What the model says after 3 steps", model.forward(ids), scores_of(right, ids, right_weights));
  }
  const Model sure(5, 3, Generator(7));
  for (const Linear* part : {&sure.query, &sure.key}) part->weight.set(part->weight.value() * 1e100);
  const IntArray five = randint(0, 6, {2, 5}, Generator(3));
  expect_close("What a model says whose matches are large, above and below 0,", sure.forward(five),
               scores_of(sure, five, right_weights));
}

template <Weights* weights>
struct Wrongly : Layer<Wrongly<weights>> {
  Embedding side;
  LearnedPositions place;
  Linear query, key, value, scores;

  Wrongly(Index T, Index C, const Generator& r)
      : side(6, C, r), place(T, C, r), query(C, C, r), key(C, C, r), value(C, C, r), scores(C, 6, r) {}
  Tensor forward(const IntArray& ids) const { return scores_of(*this, ids, weights); }
  void visit(Visitor& v) override {
    v("side", side);
    v("place", place);
    v("query", query);
    v("key", key);
    v("value", value);
    v("scores", scores);
  }
};
template <Weights* weights>
void wrongly() {
  check<Wrongly<weights>>(rightly);
}

static Tensor unmasked(const Tensor& match) { return softmax(match); }
static Tensor inverted(const Tensor& match) { return masked_softmax(match, ~past(match)); }
static Tensor strict(const Tensor& match) { return masked_softmax(match, ~past(match).transpose(0, 1)); }
static Tensor late(const Tensor& match) { return tril(softmax(match)); }
static Tensor deaf(const Tensor& match) { return match * 0; }
static Tensor itself(const Tensor& match) { return match * 0 + eye(match.size(-1)); }
template <int power>
Tensor filled(const Tensor& match) {
  return softmax(where(past(match), match, power == 0 ? 0 : -std::pow(10.0, power)));
}

static const Row<void()> rows[] = {
    {"no mask", "At each position your model still listens to all positions, also to those that come later.",
     wrongly<unmasked>},
    {"inverted", "The wrong way round: at each position your model listens to what comes later, and only to that.",
     wrongly<inverted>},
    {"hides itself", "Your model no longer listens to the throw at its own position, which has been thrown as well.",
     wrongly<strict>},
    {"a number hides",
     "A match may be lower than the number by which you hide, and exp(0) is 1: only minus infinity hides always.",
     wrongly<filled<0>>, wrongly<filled<2>>, wrongly<filled<5>>, wrongly<filled<9>>},
    {"after softmax",
     "Weights set to 0 after softmax no longer sum to 1, and the sum that divided them knew the future.",
     wrongly<late>},
    {"no attention", "Now your model listens to nothing but its own position: mend attention, do not take it away.",
     wrongly<deaf>, wrongly<itself>},
    {"another training",
     "The model is right now, but a step no longer does what it did: nothing was wrong in train_on_dice().",
     [] { check<Wrongly<right_weights>>(slowly); }},
};
static const Table table(rows);

#ifdef PROVE
namespace solution {
struct DiceModel : Layer<DiceModel> {
  Embedding side;
  LearnedPositions place;
  Linear query, key, value, scores;

  /// A model for rows of up to T throws, with vectors of width C.
  DiceModel(Index T, Index C, const Generator& r)
      : side(6, C, r), place(T, C, r), query(C, C, r), key(C, C, r), value(C, C, r), scores(C, 6, r) {}

  /// ids [B, T] -> [B, T, 6]: scores of the six sides for the next throw, at each position.
  Tensor forward(const IntArray& ids) const {
    const Index T = ids.shape()[1];
    const Tensor x = side(ids) + place(T);
    const Tensor match = matmul(query(x), transpose(key(x), 1, 2)) / std::sqrt(double(x.size(2)));
    const Tensor weights = masked_softmax(match, causal_mask(T));
    return scores(x + matmul(weights, value(x)));
  }
  void visit(Visitor& v) override {
    v("side", side);
    v("place", place);
    v("query", query);
    v("key", key);
    v("value", value);
    v("scores", scores);
  }
};
}  // namespace solution
static const Right right([] { check<solution::DiceModel>(rightly); });
#endif
}  // namespace of_check

#include YOURS
int main(int argc, char** argv) {
  return of_check::judge(argc, argv, [] { of_check::check<DiceModel>(train_on_dice); });
}
