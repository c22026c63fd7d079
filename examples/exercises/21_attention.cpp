// 21: attention, whole
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// One head of a GPT. Each of T tokens gets a mean of the values v of itself and of all tokens before it. How much each
// of these counts comes of scores, the products of its query and their keys:
//
//   y = softmax(scores) v        scores = q k^T / sqrt(d), and -inf where the column is after the row
//
//   q, k [..., T, d], v [..., T, e]  ->  y [..., T, e]
//
// Scores and weights are [..., T, T], a row for each token that looks, a column for each that is looked at; each row of
// weights sums to 1. With T = 2 and q all 0, so that all scores are 0, and v = 1 2 and 5 6, y is
//
//   1 2        the first token sees itself alone
//   3 4        the second the mean of both
//
// You may use: matmul; transpose(x, axis, axis); masked_fill(x, mask, value); causal_mask(T), which is true where the
// column is not after the row, and ~mask, its opposite; -std::numeric_limits<double>::infinity(); softmax(x, axis). Not
// attention() nor masked_softmax().
Tensor my_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  your_code_here();  // replace this line
}
