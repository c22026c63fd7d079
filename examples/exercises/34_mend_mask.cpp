// 34: mend a model that foresees dice
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// No code is missing here, but one thing is wrong. A model with one attention layer reads rows of 7 throws of a die.
// At each position it predicts the next throw. It gets new rows in every step, so it cannot learn them by heart. No
// side of the die is likelier than another, so an honest loss stays near ln 6 = 1.79. But the losses are:
//
//   step      0     20     40    100    300
//   loss   2.00   1.27   0.49   0.38   0.29
//
// At the last of the 7 positions the model can only guess. At all other positions it seems to see the future. Mend it:
// the loss should go back to 1.79, and at each position the model should still attend to all throws so far.

struct DiceModel : Layer<DiceModel> {
  Embedding side;
  LearnedPositions place;
  Linear query, key, value, scores;

  /// A model for rows of up to T throws, with vectors of width C.
  DiceModel(Index T, Index C, const Generator& r)
      : side(6, C, r), place(T, C, r), query(C, C, r), key(C, C, r), value(C, C, r), scores(C, 6, r) {}

  /// ids [B, T] -> [B, T, 6]: scores of the six sides for the next throw, at each position.
  Tensor forward(const IntArray& ids) const {
    const Tensor x = side(ids) + place(ids.shape()[1]);                    // [B, T, C]
    const Tensor match = matmul(query(x), transpose(key(x), 1, 2));        // [B, T, T]: a row for each position
    const Tensor weights = softmax(match / std::sqrt(double(x.size(2))));  // row t: how much t attends to each position
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

/// Trains one step on each batch of throws [B, T + 1]. The model reads the first T throws of a row, and after each of
/// these throws it predicts the next one. Returns the loss of every step.
std::vector<double> train_on_dice(const DiceModel& model, const std::vector<IntArray>& batches) {
  AdamW optimizer(all_parameters(model), {.lr = 0.01});
  std::vector<double> losses;
  for (const IntArray& throws : batches) {
    const Index T = throws.shape()[1] - 1;
    const Tensor loss = cross_entropy(model(throws.slice(1, 0, T)), throws.slice(1, 1, T + 1));
    optimizer.zero_grad();
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}
