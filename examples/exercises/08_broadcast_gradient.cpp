// 08: the gradient of what was broadcast
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// A bias [3] that is added to x [2, 3] is added to both rows. Backward brings a gradient g of the result's shape,
// [2, 3], but the bias needs a gradient of its own shape, [3]. If a number of the bias grows by 1, it grows in both
// rows, and both changes affect the loss. So the gradient of a number that was repeated is the SUM of g over all its
// copies. Sum g down to `shape`, the shape before broadcasting:
//
//   - axes in front that `shape` does not have: sum over them, which removes them    g [5, 2, 3] -> [2, 3]
//   - then axes that are 1 in `shape`: sum over them, but keep the axis as a 1       [2, 3] -> [2, 1]
//
//   g = {{1, 2, 3}, {10, 20, 30}}:  reduced(g, {3})     is  {11, 22, 33}
//                                   reduced(g, {2, 1})  is  {{6}, {60}}
//                                   reduced(g, {})      is  66
//
// sum(x, {0}) sums over the first axis and removes it. sum(x, {axis}, true) keeps the axis with an extent of 1.
// x.dim() is the number of axes of a tensor, shape.rank() that of a shape, and shape[i] is an extent. You may assume
// that `shape` fits g. Use tensor ops and not loops over numbers, because gradients have to flow through your result,
// too.
Tensor reduced(const Tensor& g, const Shape& shape) {
  your_code_here();  // replace this line
}
