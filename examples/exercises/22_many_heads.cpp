// 22: many heads
// Difficulty 4 of 5, 25 minutes.
#include "examples/exercises/exercise.h"

// With a single head a token gets only one weighted mean of the other tokens. So the C numbers of a token are cut into
// H heads of d = C / H numbers, each head attends by itself, and a last matrix mixes the results of the heads:
//
//   1. q = x Wq^T, k = x Wk^T, v = x Wv^T                             [B, T, C] each
//   2. cut: head h gets the numbers h d to h d + d - 1 of each token  [B, H, T, d] each
//   3. in each head: softmax(q k^T / sqrt(d)) v, without a mask       [B, H, T, d]
//   4. the heads side by side again, as they were before the cut      [B, T, C]
//   5. times Wo^T                                                     [B, T, C]
//
// For example let H be 2, let all weights be eye(4), and let x be {{{1, 0, 0, 1}, {0, 0, 0, 0}}}. Then the numbers 1 0
// of the first token belong to head 0, and its numbers 0 1 to head 1. The result is
// {{{0.67, 0, 0, 0.67}, {0.5, 0, 0, 0.5}}}.
//
// You may use: x.size(axis); linear(x, W), which is x W^T; reshape(x, {B, T, H, d}); transpose(x, axis, other);
// matmul(a, b), which multiplies the last two axes; softmax(x). You may not use mote's attention, split_heads and
// join_heads, because this exercise is to write them.
Tensor many_heads(const Tensor& x, const Tensor& Wq, const Tensor& Wk, const Tensor& Wv, const Tensor& Wo, Index H) {
  your_code_here();  // replace this line
}
