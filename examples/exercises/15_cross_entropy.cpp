// 15: cross-entropy
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Cross-entropy is the loss of every language model. At each of N positions the model gives a row of K logits, which
// may be any numbers. Softmax turns the row into probabilities p. The loss at a position is -log p_t, where t is the
// id that really came. The result is the mean of these losses.
//
//   logits [N, K], ids [N]  ->  one number, of shape []
//   my_cross_entropy({{2, 0}, {0, 0}}, {0, 1})  is  (-log 0.8808 - log 0.5) / 2  =  0.4100
//
// A p_t of 1e-400 would be 0 in a double, and -log 0 is inf. So do not compute p. Let m be the largest logit of a row:
//
//   -log p_t  =  m + log(sum of e^(logit_j - m)) - logit_t
//
// You may use: exp, log; max(x, {axis}, keepdim), and likewise sum and mean; gather(x, 1, ids.unsqueeze(1)), which
// takes the number in column ids[i] of each row i and has the shape [N, 1]. You may use neither cross_entropy() nor
// log_softmax().
Tensor my_cross_entropy(const Tensor& logits, const IntArray& ids) {
  your_code_here();  // replace this line
}
