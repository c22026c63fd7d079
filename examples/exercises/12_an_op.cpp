// 12: an op with its own gradient
// Difficulty 4 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// An op of mote is a function that opens an Op, computes with arrays, and records the rule for the gradient. This is
// all of mote's sin:
//
//   Tensor sin(const Tensor& x) {
//     Op op("sin", x);                                                     // the name and the input
//     return op.record(map(kernels::table().sin, x.array()), save(x),      // the result; an array saved for the rule
//                      [](const Array& dy, Grads& dx, const Array& x) {    // the rule; saved values come last
//                        dx.add(0, dy * map(kernels::table().cos, x));     // input 0 gets dy times the slope, cos x
//                      });
//   }
//
// dy is the gradient of the loss with respect to y. A rule is a lambda that captures nothing, so its [] stays empty.
// Pass the values that the rule needs to save(...). The rule gets these values as its last parameters, in the same
// order. A saved tensor becomes a const Array&, and a saved number stays a number, such as real b.
//
// Write Swish as one op with one rule. Let s be the sigmoid of b x:
//
//   y = x s        dy/dx = s + b x s (1 - s)        for b = 1 and x = 2: s = 0.8808, y = 1.7616, dy/dx = 1.0908
//
// Arrays have + - * with each other and with numbers, as in 1 - s. kernels::table().sigmoid is a function for map.
Tensor swish(const Tensor& x, real b) {
  your_code_here();  // replace this line
}
