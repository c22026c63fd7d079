// 35: mend an evaluation that is a matter of luck
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// Nothing is missing here, but one thing is wrong. A network with dropout learns from some points. After each step it
// is asked for its loss on others, which it is never trained on. This is what one sees in the last steps:
//
//   step               195     196     197     198     199
//   loss on others   0.445   0.505   0.423   0.450   0.484
//
// A step changes the weights by a hair, and yet this loss jumps up and down. Asked twice without a step in between, the
// model even gives two answers, and both are worse than they could be. Mend it. The training itself is right: it needs
// its dropout, in every step.

using Points = std::pair<Tensor, IntArray>;  // x [N, 2], and the classes of all N

double loss_on(Sequential& model, const Points& points) {
  const auto& [x, classes] = points;
  return cross_entropy(model(x), classes).item();
}

/// Trains on `seen`. Returns, for each step, the loss on the others after it.
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

/// Points in the first or third quarter of the plane are of class 1, the others of class 0. The losses above.
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
