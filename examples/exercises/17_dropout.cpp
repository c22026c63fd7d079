// 17: dropout
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// So that no number inside a model can rely on a single other one, dropout sets some to 0 in training. Each number of x
// is dropped with the probability p, independently of all others; those that are kept are divided by 1 - p, so that a
// sum of many stays as large as before, on average. In evaluation nothing happens at all: the result is x.
//
//   x = 1 2 3 4, p = 0.5, in training:  perhaps 2 0 6 0, the next time perhaps 0 4 6 8;  in evaluation:  1 2 3 4
//
// You may use: bernoulli(q, shape, random), which draws a tensor that is 1 with probability q and else 0; or
// rand(shape, random), which draws uniform numbers from 0 to 1, with a comparison and where(mask, a, b). Draw from
// `random`, which goes on from where it stood at every call. p is at least 0 and below 1. Not dropout().
Tensor my_dropout(const Tensor& x, double p, bool training, const Generator& random) {
  your_code_here();  // replace this line
}
