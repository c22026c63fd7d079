// 03: gradients add up
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A value of a computation with its gradient: how many times as fast as `data` the result grows. Backward begins with
// 0 in each, and then goes from step to step, the last one first. Here are two of the steps, z = a + b and z = a * b:
// z.grad is known, and each function hands a and b their shares.
//
//   z = a + b    share of a: z.grad               share of b: z.grad
//   z = a * b    share of a: z.grad * b.data      share of b: z.grad * a.data
//
// A value that is used more than once gets a share from each of its users, and its gradient is the sum of all. This
// holds within one step, too: in z = x * x both a and b are the same value x.
//
//   x = {3, 0}, z = {9, 1}: after product_backward(z, x, x) x.grad is 6, since x * x has the slope 2x
//   and 7 if another step had given x a share of 1 before
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
