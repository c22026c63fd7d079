// 28: AdamW
// Difficulty 4 of 5, 25 minutes.
#include "examples/exercises/exercise.h"

// AdamW, which trains nearly all transformers, moves each weight by about lr, whatever size its gradients have. For
// each weight w with the gradient g, in step t = 1, 2, ... (mean and square begin as 0):
//
//   w      = w - lr * weight_decay * w                      weights shrink: the W, "decoupled weight decay"
//   mean   = beta1 * mean + (1 - beta1) * g
//   square = beta2 * square + (1 - beta2) * g * g
//   w      = w - lr * (mean / (1 - beta1^t)) / (sqrt(square / (1 - beta2^t)) + eps)
//
// With lr = 0.1, weight_decay = 0, w = 1 and g = 5, the first step leads to w = 0.9; with g = 0.005, too.
//
// An optimizer of mote's derives from Optimizer, which calls update() for each parameter, with the lr of its group. A
// slot has what belongs to one: parameter (.value(), .grad(), .set(array)), weight_decay, steps, its updates including
// this one, and arrays, as many as the constructor names, for what is kept between steps. Arrays have + - * /, with
// numbers as well, and sqrt(Tensor(a)).array().
struct MyAdamW : Optimizer {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;

  explicit MyAdamW(std::vector<ParameterGroup> groups, double lr = 1e-3, double weight_decay = 0.01)
      : Optimizer("MyAdamW", std::move(groups), lr, weight_decay, {"mean", "square"}) {}

  void update(Slot& slot, double lr) override {
    Array &mean = slot.arrays[0], &square = slot.arrays[1], w = slot.parameter.value();
    if (slot.steps == 1) mean = square = Array::zeros(w.shape());
    your_code_here();  // and in the end slot.parameter.set(w)
  }
};
