// 28: AdamW
// Difficulty 4 of 5, 25 minutes.
#include "examples/exercises/exercise.h"

// AdamW, which trains nearly all transformers, moves each weight by about lr in each step, however large or small the
// gradients of the weight are. The formulas are for a weight w with the gradient g, in step t = 1, 2, ... At first
// mean and square are 0.
//
//   w      = w - lr * weight_decay * w                      shrinks w: the W in AdamW, "decoupled weight decay"
//   mean   = beta1 * mean + (1 - beta1) * g
//   square = beta2 * square + (1 - beta2) * g * g
//   w      = w - lr * (mean / (1 - beta1^t)) / (sqrt(square / (1 - beta2^t)) + eps)
//
// With lr = 0.1, weight_decay = 0, w = 1 and g = 5, the first step leads to w = 0.9. With g = 0.005 it leads to
// w = 0.9, too.
//
// An optimizer of mote derives from Optimizer, which calls update() for each parameter, with the lr of its group. A
// Slot has everything that belongs to one parameter. slot.parameter has .value(), .grad() and .set(array).
// slot.weight_decay is the weight decay of the parameter. slot.steps is the number of updates of the parameter, this
// one included. slot.arrays are kept between steps: here they are mean and square, the two names that the constructor
// passes to Optimizer. Arrays have + - * / with each other and with numbers. The square root of an array a is
// sqrt(Tensor(a)).array().
struct MyAdamW : Optimizer {
  double beta1 = 0.9, beta2 = 0.999, eps = 1e-8;

  explicit MyAdamW(std::vector<ParameterGroup> groups, double lr = 1e-3, double weight_decay = 0.01)
      : Optimizer("MyAdamW", std::move(groups), lr, weight_decay, {"mean", "square"}) {}

  void update(Slot& slot, double lr) override {
    Array &mean = slot.arrays[0], &square = slot.arrays[1], w = slot.parameter.value();
    if (slot.steps == 1) mean = square = Array::zeros(w.shape());
    your_code_here();  // replace this line; at the end call slot.parameter.set(w)
  }
};
