// 03: gradients add up
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A Value is one number of a computation, `data`, with its gradient, `grad`. The gradient is the derivative of the
// computation's result with respect to `data`. Backward begins with all gradients at 0. Then it goes from step to
// step, from the last step to the first. Write the functions for two kinds of steps, z = a + b and z = a * b. When
// such a function is called, z.grad is known. The function gives a and b these shares of the gradient:
//
//   z = a + b    share of a: z.grad               share of b: z.grad
//   z = a * b    share of a: z.grad * b.data      share of b: z.grad * a.data
//
// A value that is used more than once gets a share from each step that uses it, and its gradient is the sum of all
// shares. This holds within one step, too: in z = x * x both a and b are the same value x.
//
//   x = {3, 0} (data 3, grad 0), z = {9, 1}: after product_backward(z, x, x), x.grad is 6, the slope 2x of x * x.
//   If another step had given x a share of 1 before, x.grad would be 7.
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
