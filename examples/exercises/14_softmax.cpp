// 14: softmax that does not overflow
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Softmax makes shares of any numbers: all above 0, with the sum 1, the largest where x is largest. Here each row, the
// numbers along the last axis, becomes shares of its own, whatever the number of axes:
//
//   y_i = e^x_i / (sum of e^x_j over the row)
//
//   my_softmax({{0, 0}, {1, 3}})  is  {{0.5, 0.5}, {0.1192, 0.8808}}
//
// But e^1000 is beyond all that a double can hold: inf, and inf / inf is NaN, which a training never gets rid of. A
// number that is subtracted from all of a row changes no share. So first make the largest number of each row 0.
//
// You may use: exp(x); max(x, {axis}, keepdim) and sum(x, {axis}, keepdim), where keepdim = true leaves the axis as one
// of extent 1, so that the result broadcasts against x; - and /. Axis -1 is the last. Not softmax() or its relatives,
// nor loops over numbers: gradients have to find their way through your result.
Tensor my_softmax(const Tensor& x) {
  your_code_here();  // replace this line
}
