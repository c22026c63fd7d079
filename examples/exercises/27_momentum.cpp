// 27: momentum
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Plain gradient descent, w -= lr g, crawls along a flat valley and jumps from side to side in a steep one. Momentum
// gives each weight a velocity, in which gradients that agree add up and gradients that disagree cancel. Weight decay
// adds a pull towards 0. These are the formulas of PyTorch's SGD, for each weight w with the gradient g, in each step:
//
//   g        = g + weight_decay * w
//   velocity = momentum * velocity + g          the velocity is 0 before the first step
//   w        = w - lr * velocity
//
// With w = 1, g = 1 in each step, and no decay: velocity is 1, then 1.9; w is 0.9, then 0.71.
//
// step(w, g) changes w. The number of weights is the same in all steps. lr may be changed between two steps.
struct Downhill {
  double lr = 0.1, momentum = 0.9, weight_decay = 0;
  std::vector<double> velocity;  // one for each weight; empty before the first step

  void step(std::vector<double>& w, const std::vector<double>& g) {
    your_code_here();  // replace this line
  }
};
