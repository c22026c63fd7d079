// 22: many heads
// Difficulty 4 of 5, 25 minutes.
#include "examples/exercises/exercise.h"

// With one attention a token hears one mean of the others. So the C numbers of a token are cut into H heads of
// d = C / H numbers, each head attends by itself, and a last matrix mixes what they heard:
//
//   1. q = x Wq^T, k = x Wk^T, v = x Wv^T                             [B, T, C] each
//   2. cut: head h gets the numbers h d to h d + d - 1 of each token  [B, H, T, d] each
//   3. in each head: softmax(q k^T / sqrt(d)) v, without a mask       [B, H, T, d]
//   4. the heads side by side again, as they were before the cut      [B, T, C]
//   5. times Wo^T                                                     [B, T, C]
//
// If all weights are eye(4), x is {{{1, 0, 0, 1}, {0, 0, 0, 0}}} and H = 2, the numbers 1 0 of the first token belong
// to head 0, and 0 1 to head 1; the result is {{{0.67, 0, 0, 0.67}, {0.5, 0, 0, 0.5}}}.
//
// You may use: x.size(axis); linear(x, W) is x W^T; reshape(x, {B, T, H, d}), transpose(x, axis, other), matmul(a, b),
// which multiplies the last two axes, softmax(x). mote's attention, split_heads and join_heads are what you write here.
Tensor many_heads(const Tensor& x, const Tensor& Wq, const Tensor& Wk, const Tensor& Wv, const Tensor& Wo, Index H) {
  your_code_here();  // replace this line
}
