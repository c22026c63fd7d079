// 05: tanh, forward and backward
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// tanh bends any number into the range from -1 to 1: a step of a network that is not a straight line. An op has two
// halves. forward(x) computes y = tanh(x) and keeps what backward will need. backward(g) gets g = dL/dy, how many times
// as fast as y the loss L grows, and returns dL/dx. The slope of tanh can be had from its own result:
//
//   dy/dx = 1 - y * y
//
// and the chain rule multiplies the two. std::tanh(x) of the standard library computes tanh.
//
//   MyTanh op;
//   op.forward(0.5)   is 0.462117
//   op.backward(10)   is 7.86448, which is 10 times as much as the slope of tanh at 0.5
struct MyTanh {
  double kept = 0;  // from forward() to backward()

  double forward(double x) {
    your_code_here();  // replace this line
  }
  double backward(double g) const {
    your_code_here();  // replace this line
  }
};
