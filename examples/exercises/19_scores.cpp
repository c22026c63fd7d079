// 19: the scores of attention
// Difficulty 2 of 5, 10 minutes.
#include "examples/exercises/exercise.h"

// In attention each token has a query q, which says what the token looks for, and a key k, by which other tokens find
// it. The score says how much token i attends to token j. It is the dot product of the query of i and the key of j,
// divided by the square root of d:
//
//   score_ij = (q_i1 k_j1 + ... + q_id k_jd) / sqrt(d)        q [..., Tq, d], k [..., Tk, d]  ->  [..., Tq, Tk]
//
// So there is a row for each query and a column for each key. The axes in front, such as batch and head, stay. Take
// the queries 1 0 0 0 and 0 2 0 0, and the keys 4 1 0 0, 0 3 0 0 and 0 0 9 0. Here d is 4, its root is 2, and the
// scores are
//
//   2   0   0
//   1   3   0
//
// You may use: matmul(a, b), the product of matrices [..., M, K] and [..., K, N]; transpose(x, axis, axis), where
// axis -1 is the last; x.size(axis), a whole number; std::sqrt.
Tensor attention_scores(const Tensor& q, const Tensor& k) {
  your_code_here();  // replace this line
}
