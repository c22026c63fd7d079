// 05: tanh, forward and backward
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// tanh maps any number into the range from -1 to 1, which gives a network a step that is not linear. An op has two
// halves. forward(x) computes y = tanh(x) and keeps the number that backward will need. backward(g) gets g = dL/dy,
// the gradient of the loss L with respect to y, and returns dL/dx. The slope of tanh can be computed from y alone:
//
//   dy/dx = 1 - y * y
//
// By the chain rule dL/dx is g times this slope. std::tanh(x) of the standard library computes tanh.
//
//   MyTanh op;
//   op.forward(0.5)   is 0.462117
//   op.backward(10)   is 7.86448, which is 10 times the slope of tanh at 0.5
struct MyTanh {
  double kept = 0;  // forward() writes it, backward() reads it

  double forward(double x) {
    your_code_here();  // replace this line
  }
  double backward(double g) const {
    your_code_here();  // replace this line
  }
};
