// 33: mend a loss that swings
// Difficulty 1 of 5, 5 minutes.
#include "examples/exercises/exercise.h"

// No code is missing here, but one thing is wrong. A linear layer should find the line y = 3 x - 2 from points near
// this line. SGD with a little momentum should do that in 15 steps. But the losses are:
//
//   step      0      3      8     11     15     18     22
//   loss    8.7    0.4   20.0    0.4   58.1    2.5  159.0
//
// First the loss falls, so the gradient cannot be all wrong. Then the loss rises and falls, higher every time, like a
// swing that somebody pushes. More steps only make it worse. Mend it. The layer, the optimizer, its learning rate and
// its momentum are as they should be.

/// Trains on x [N, in] and y [N, out]. Returns the loss of every step.
std::vector<double> train_line(const Linear& line, const Tensor& x, const Tensor& y, int steps) {
  SGD optimizer(all_parameters(line), {.lr = 0.05, .momentum = 0.5});
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    const Tensor loss = mse_loss(line(x), y);
    loss.backward();
    optimizer.step();
    losses.push_back(loss.item());
  }
  return losses;
}

/// Trains a new layer on points near the line y = 3 x - 2. Returns the losses, which the table at the top of this file
/// shows.
std::vector<double> losses_of_a_line() {
  const Generator random(1);
  const Tensor x = randn({40, 1}, random), y = 3 * x - 2 + 0.1 * randn({40, 1}, random);
  return train_line(Linear(1, 1, random), x, y, 31);
}
