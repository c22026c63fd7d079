// 16: layer norm
// Difficulty 2 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Numbers that are multiplied by one matrix after the other grow or shrink without limit. So before each part of a
// block a transformer brings every vector of x to the mean 0 and the variance 1. A vector is the C numbers along the
// last axis. Then each column is scaled by a learned weight w and shifted by a learned bias b.
//
//   y = (x - mean) / sqrt(variance + 1e-5) * w + b        x [..., C], w [C], b [C]
//
// Mean and variance are computed for each vector by itself. The variance is the mean of (x - mean)^2, which divides by
// C. For x = 1 5, w = 1 2, b = 0 10: the mean is 3, the variance 4, so y = -1 * 1 + 0, 1 * 2 + 10 = -1, 12 (nearly).
//
// You may use: mean(x, {axis}, keepdim), where keepdim = true keeps the axis with an extent of 1, so that the result
// broadcasts against x; sqrt; + - * /. You may not use layer_norm().
Tensor my_layer_norm(const Tensor& x, const Tensor& w, const Tensor& b) {
  your_code_here();  // replace this line
}
