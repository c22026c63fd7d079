// 34: mend a model that foresees dice
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Nothing is missing here, but one thing is wrong. A model of one attention layer reads throws of a die, 7 in a row,
// and is to say at each position what is thrown next. It is given fresh rows in every step, so it cannot know them by
// heart, and an honest loss stays near ln 6 = 1.79: no side is likelier than another. But this is what one sees:
//
//   step      0     20     40    100    300
//   loss   2.00   1.27   0.49   0.38   0.29
//
// At the last of the 7 positions the model guesses like everybody else; at all others it seems to see the future.
// Mend it: back to 1.79, by a model that at each position still listens to all that has been thrown so far.

struct DiceModel : Layer<DiceModel> {
  Embedding side;
  LearnedPositions place;
  Linear query, key, value, scores;

  /// For up to T throws in a row, with vectors of width C.
  DiceModel(Index T, Index C, const Generator& r)
      : side(6, C, r), place(T, C, r), query(C, C, r), key(C, C, r), value(C, C, r), scores(C, 6, r) {}

  /// ids [B, T] -> [B, T, 6]: at each position scores for the next throw.
  Tensor forward(const IntArray& ids) const {
    const Tensor x = side(ids) + place(ids.shape()[1]);                    // [B, T, C]
    const Tensor match = matmul(query(x), transpose(key(x), 1, 2));        // [B, T, T]: a row for each that looks
    const Tensor weights = softmax(match / std::sqrt(double(x.size(2))));  // how much it looks at each
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

/// One step for each batch of throws [B, T + 1]: T are read, and each is to say the next. Returns their losses.
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
