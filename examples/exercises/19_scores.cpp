// 19: the scores of attention
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// In attention each token has a query q, what it looks for, and a key k, what it can be found by. How much the token i
// wants to hear the token j is a score, the product of its query and the other's key, divided by the root of d:
//
//   score_ij = (q_i1 k_j1 + ... + q_id k_jd) / sqrt(d)        q [..., Tq, d], k [..., Tk, d]  ->  [..., Tq, Tk]
//
// So there is a row for each query and a column for each key; the axes before, such as batch and head, stay. For the
// queries 1 0 0 0 and 0 2 0 0, and the keys 4 1 0 0, 0 3 0 0 and 0 0 9 0, with d = 4 and its root 2:
//
//   2   0   0
//   1   3   0
//
// You may use: matmul(a, b), the product of the last two axes, [..., M, K] and [..., K, N]; transpose(x, axis, axis),
// where axis -1 is the last; x.size(axis), a whole number; std::sqrt.
Tensor attention_scores(const Tensor& q, const Tensor& k) {
  your_code_here();  // replace this line
}
