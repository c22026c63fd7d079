// 03: gradients add up
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A Value is one number of a computation with its gradient. The gradient says how many times as fast as `data` the
// result of the computation grows. Backward begins with all gradients at 0. Then it goes from step to step, from the
// last step to the first. Here are two kinds of steps, z = a + b and z = a * b. In each step z.grad is known, and the
// function for the step gives a and b their shares of the gradient.
//
//   z = a + b    share of a: z.grad               share of b: z.grad
//   z = a * b    share of a: z.grad * b.data      share of b: z.grad * a.data
//
// A value that is used more than once gets a share from each step that uses it, and its gradient is the sum of all
// shares. This holds within one step, too: in z = x * x both a and b are the same value x.
//
//   x = {3, 0}, z = {9, 1}: after product_backward(z, x, x) x.grad is 6, since x * x has the slope 2x,
//   and it is 7 if another step had given x a share of 1 before
struct Value {
  double data;
  double grad = 0;
};

void sum_backward(const Value& z, Value& a, Value& b) {
  your_code_here();  // replace this line
}

void product_backward(const Value& z, Value& a, Value& b) {
  your_code_here();  // replace this line
}
