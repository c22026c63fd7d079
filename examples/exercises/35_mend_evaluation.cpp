// 35: mend an evaluation that is a matter of luck
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// No code is missing here, but one thing is wrong. A network with dropout is trained on some points. After each step
// its loss is measured on other points, on which it is never trained. These are the losses of the last steps:
//
//   step               195     196     197     198     199
//   loss on others   0.445   0.505   0.423   0.450   0.484
//
// A step changes the weights very little, and yet this loss jumps up and down. Two evaluations without a step in
// between even give two different losses, and both are worse than they could be. Mend it. The training itself is
// right: it needs its dropout, in every step.

using Points = std::pair<Tensor, IntArray>;  // x [N, 2], and the class of each point

double loss_on(Sequential& model, const Points& points) {
  const auto& [x, classes] = points;
  return cross_entropy(model(x), classes).item();
}

/// Trains on `seen`. Returns the loss on `others` after each step.
std::vector<double> train_with_dropout(Sequential& model, const Points& seen, const Points& others, int steps) {
  AdamW optimizer(all_parameters(model), {.lr = 0.01});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    optimizer.zero_grad();
    cross_entropy(model(seen.first), seen.second).backward();
    optimizer.step();
    losses.push_back(loss_on(model, others));
  }
  return losses;
}

/// Trains on points whose class is 1 in the first and third quadrant of the plane, and 0 in the other two. Returns the
/// losses on the other points. The last of these losses are in the table at the top of this file.
std::vector<double> losses_of_quarters() {
  const Generator random(1);
  Sequential model{Linear(2, 32, random), Tanh(), Dropout(0.5, random), Linear(32, 2, random)};
  const auto points = [&random](Index n) {
    const Tensor x = randn({n, 2}, random), product = select(x, 1, 0) * select(x, 1, 1);
    return Points(x, argmax(stack({-product, product}, 1)));
  };
  const Points seen = points(50), others = points(50);
  return train_with_dropout(model, seen, others, 200);
}
