// 16: layer norm
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Numbers that are multiplied by matrix after matrix grow or die out. So before each part of a block a transformer
// brings every vector of x, the C numbers along the last axis, to the mean 0 and the variance 1. Then w, the gain, and
// b, the bias, which are learned, give each column the size and the place that the next part wants.
//
//   y = (x - mean) / sqrt(variance + 1e-5) * w + b        x [..., C], w [C], b [C]
//
// Mean and variance are those of the one vector; the variance is the mean of (x - mean)^2, that is, divided by C.
// For x = 1 5, w = 1 2, b = 0 10: the mean is 3, the variance 4, so y = -1 * 1 + 0, 1 * 2 + 10 = -1, 12 (nearly).
//
// You may use: mean(x, {axis}, keepdim), where keepdim = true leaves the axis as one of extent 1, so that the result
// broadcasts against x; sqrt; + - * /. Not layer_norm().
Tensor my_layer_norm(const Tensor& x, const Tensor& w, const Tensor& b) {
  your_code_here();  // replace this line
}
