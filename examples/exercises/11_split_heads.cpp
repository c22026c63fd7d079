// 11: cutting vectors into heads
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// In attention with H heads each token's vector of H * d numbers is cut into H parts: head h gets d numbers, from
// number h * d on. To work with all heads at once, the heads become an axis of their own, in front of the axis of the
// tokens:
//
//   x [B, T, H * d]  ->  y [B, H, T, d]        y[b, h, t, i] = x[b, t, h * d + i]
//
// Two tokens, 1 2 3 4 and 5 6 7 8, cut into H = 2 heads of d = 2:
//
//   head 0:  1 2      head 1:  3 4
//            5 6               7 8
//
// You may use: x.size(axis); reshape(x, {...}), which changes the shape and keeps the order of the numbers, row by
// row; transpose(x, axis, axis), which swaps two axes. Gradients flow through reshape and transpose. (mote's own
// split_heads does the same as your function.)
Tensor into_heads(const Tensor& x, Index H) {
  your_code_here();  // replace this line
}
