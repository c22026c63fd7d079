// 09: columns of one size
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A table x [N, D] has a row for each of N examples and a column for each of D measured quantities, such as a height
// in metres and an age in days. The ages are about ten thousand times as large as the heights, so a network would
// hardly notice the heights. So before training every column is brought to the mean 0 and the standard deviation 1.
// The standard deviation is the square root of the variance, and the variance is the mean of (x - mean)^2.
//
//   y = (x - mean) / sqrt(variance + 1e-5)        mean and variance of each column, over the N rows
//
// The 1e-5 is there for a column whose numbers are all equal. Such a column becomes 0 instead of 0 / 0.
//
//   standardize({{1, 5}, {3, 5}})  is  {{-1, 0}, {1, 0}} (nearly: -0.999995 and 0.999995)
//
// mean(x, {axis}, true) keeps the axis with an extent of 1, so that the mean broadcasts against x. There is also
// var(x, {axis}, correction, true), which divides by N - correction. The default correction is 1 as in PyTorch, so
// pass 0 to divide by N. Use tensor ops and not loops over numbers, because gradients have to flow through your
// result.
Tensor standardize(const Tensor& x) {
  your_code_here();  // replace this line
}
