// 17: dropout
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// In training, dropout sets some numbers inside a model to 0, so that no number can rely on a single other one. Each
// number of x is dropped with the probability p, independently of all others. The numbers that are kept are divided by
// 1 - p, so that sums of many numbers stay as large as before, on average. In evaluation nothing happens at all: the
// result is x.
//
//   x = 1 2 3 4, p = 0.5, in training:  perhaps 2 0 6 0, the next time perhaps 0 4 6 8;  in evaluation:  1 2 3 4
//
// You may use: bernoulli(q, shape, random), which draws a tensor whose numbers are 1 with probability q and otherwise
// 0; or rand(shape, random), which draws uniform numbers from 0 to 1, with a comparison and where(mask, a, b). Draw
// from `random`, which gives new numbers at every call. p is at least 0 and below 1. You may not use dropout().
Tensor my_dropout(const Tensor& x, double p, bool training, const Generator& random) {
  your_code_here();  // replace this line
}
