// 13: a linear layer's formula
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// Nearly all parameters of a transformer are in matrices W, and nearly all of its time goes into this formula:
//
//   y = x W^T + b        x [..., in], W [out, in], b [out]  ->  y [..., out]
//
// W has a row for each output. Output j is the dot product of x and row j, plus b_j. For x = 1 2 and
//
//   W = 1 0    b = 10    y = 1 * 1 + 2 * 0 + 10 = 11
//       1 1        20        1 * 1 + 2 * 1 + 20 = 23
//       0 3        30        1 * 0 + 2 * 3 + 30 = 36
//
// W^T is W transposed: its columns are the rows of W. x may have any number of axes. The last axis holds the numbers
// of a vector, and the other axes count the vectors.
//
// You may use: matmul(a, b), the product of matrices [..., M, K] and [K, N]; transpose(x, axis, axis); and +, which
// broadcasts. You may not use linear().
Tensor my_linear(const Tensor& x, const Tensor& W, const Tensor& b) {
  your_code_here();  // replace this line
}
