// 14: softmax that does not overflow
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Softmax turns any numbers into shares, or probabilities. All shares are above 0, they sum to 1, and the largest
// number gets the largest share. Here each row is turned into shares by itself. A row is the numbers along the last
// axis, whatever the number of axes:
//
//   y_i = e^x_i / (sum of e^x_j over the row)
//
//   my_softmax({{0, 0}, {1, 3}})  is  {{0.5, 0.5}, {0.1192, 0.8808}}
//
// But e^1000 is larger than any double, so it becomes inf. inf / inf is NaN, and a training never gets rid of a NaN.
// Subtracting one number from all numbers of a row changes no share. So first shift each row so that its largest
// number becomes 0.
//
// You may use: exp(x); max(x, {axis}, keepdim) and sum(x, {axis}, keepdim), where keepdim = true keeps the axis with
// an extent of 1, so that the result broadcasts against x; - and /. Axis -1 is the last. You may not use softmax() or
// its relatives. Do not loop over numbers, because gradients have to flow through your result.
Tensor my_softmax(const Tensor& x) {
  your_code_here();  // replace this line
}
