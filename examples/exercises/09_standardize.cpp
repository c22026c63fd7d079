// 09: columns of one size
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A table x [N, D] has a row for each of N examples and a column for each of D things measured, such as a height in
// metres and an age in days. To a network the days would be ten thousand times as loud. So every column is given the
// mean 0 and the deviation 1 before training. The deviation is the root of the variance, and the variance is the mean
// of the squares of what is left once the mean is taken away.
//
//   y = (x - mean) / sqrt(variance + 1e-5)        mean and variance of each column, over the N rows
//
// The 1e-5 saves a column whose numbers are all equal: it becomes 0, and not 0 / 0.
//
//   standardize({{1, 5}, {3, 5}})  is  {{-1, 0}, {1, 0}} (nearly: -0.999995 and 0.999995)
//
// mean(x, {axis}, true) keeps the axis with an extent of 1, so that it broadcasts against x. There is var(x, {axis},
// correction, true), too. As in PyTorch its correction is 1 unless you say 0: it then divides by N - 1, not by N.
// Use ops of tensors and not loops over numbers: gradients have to find their way through your result.
Tensor standardize(const Tensor& x) {
  your_code_here();  // replace this line
}
