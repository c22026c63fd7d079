// 20: the causal mask
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// A model that writes a text must not look at tokens that it has not written yet. scores [T, T] has a row for each
// token that attends and a column for each token that is attended to. In the result row i keeps only the scores of its
// columns 0 to i. All other scores become minus infinity, and softmax gives them a weight of 0. So a token sees only
// itself and the tokens before it.
//
//   causal(zeros({3, 3}))  is  0 -inf -inf
//                              0    0 -inf
//                              0    0    0
//
// You may use: masked_fill(x, mask, value), which is x with `value` where the mask is true; arange(n);
// unsqueeze(x, axis); -INFINITY; and comparisons such as a > b, which broadcast and give a Mask. You may not use
// mote's causal_mask, because it is the mask that you write here.
Tensor causal(const Tensor& scores) {
  your_code_here();  // replace this line
}
