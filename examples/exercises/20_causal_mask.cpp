// 20: the causal mask
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A model that writes must not look at what it has not written yet. scores [T, T] has a row for each token that looks
// and a column for each that is looked at. After this function row i may only keep its columns 0 to i: all others
// become minus infinity, which softmax turns into a weight of 0. So a token sees itself and what stands before it.
//
//   causal(zeros({3, 3}))  is  0 -inf -inf
//                              0    0 -inf
//                              0    0    0
//
// You may use: causal_mask is what you write here; masked_fill(x, mask, value), where the mask is true; arange(n),
// unsqueeze(x, axis), -INFINITY, and comparisons such as a > b, which broadcast and give a Mask.
Tensor causal(const Tensor& scores) {
  your_code_here();  // replace this line
}
