// 12: an op with its own gradient
// Difficulty 4 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// An op of mote is a function that opens an Op, computes with arrays, and records the rule by which the gradient comes
// back. This is all of mote's sin:
//
//   Tensor sin(const Tensor& x) {
//     Op op("sin", x);                                                     // its name, its input
//     return op.record(map(kernels::table().sin, x.array()), save(x),      // the result; what the rule will need
//                      [](const Array& dy, Grads& dx, const Array& x) {    // and the rule: what was saved comes last
//                        dx.add(0, dy * map(kernels::table().cos, x));     // to input 0: dy times the slope, cos x
//                      });
//   }
//
// dy says how fast the loss grows with each y. A rule captures nothing: its [] stays empty, and what it needs goes
// through save(...) and arrives in the same order, tensors as const Array&, numbers as they are: real b.
//
// Write Swish as one op with one rule. With s, the sigmoid of b x,
//
//   y = x s        dy/dx = s + b x s (1 - s)        for b = 1 and x = 2: s = 0.8808, y = 1.7616, dy/dx = 1.0908
//
// Arrays compute with + - * and numbers, as in 1 - s; kernels::table().sigmoid is a function for map.
Tensor swish(const Tensor& x, real b) {
  your_code_here();  // replace this line
}
