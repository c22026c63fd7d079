// 21: attention, whole
// Difficulty 3 of 5, 20 minutes.
#include "examples/exercises/exercise.h"

// Write one head of a GPT. Each of T tokens gets a weighted mean of the values v of itself and of all tokens before
// it. The weights come from scores. A score is the dot product of the token's query q with the key k of one of these
// tokens, divided by sqrt(d):
//
//   y = softmax(scores) v        scores = q k^T / sqrt(d), and -inf where the column is after the row
//
//   q, k [..., T, d], v [..., T, e]  ->  y [..., T, e]
//
// Scores and weights are [..., T, T], with a row for each token that attends and a column for each token that is
// attended to. Each row of weights sums to 1. For example let T be 2, let q be all 0, so that all scores are 0, and
// let the rows of v be 1 2 and 5 6. Then y is
//
//   1 2        the first token sees only itself
//   3 4        the second token gets the mean of both
//
// You may use: matmul; transpose(x, axis, axis); masked_fill(x, mask, value); causal_mask(T), which is true where the
// column is not after the row, and ~mask, its opposite; -std::numeric_limits<double>::infinity(); softmax(x, axis).
// You may use neither attention() nor masked_softmax().
Tensor my_attention(const Tensor& q, const Tensor& k, const Tensor& v) {
  your_code_here();  // replace this line
}
