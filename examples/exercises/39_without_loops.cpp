// 39: without loops
// Difficulty 3 of 5, 15 minutes.
#include "examples/exercises/exercise.h"

// Each query i of batch element b is compared with each key j. Each column c has a weight, and each key has a bias:
//
//   score[b, i, j] = sum over c of q[b, i, c] * w[c] * k[b, j, c]  +  bias[j]
//
//   q [B, Tq, C], k [B, Tk, C], w [C], bias [Tk]  ->  [B, Tq, Tk]
//   q = {{{1, 2}}}, k = {{{3, 4}, {5, 6}}}, w = {1, 10}, bias = {0, 0.5}  ->  {{{83, 125.5}}}
//
// one_by_one() below computes the scores in three nested loops. Its result is right, but every little step is an op,
// and an op costs more than its few multiplications. For B = 4 and Tq = Tk = 32 there are 37,000 ops. Write
// all_at_once(), which gives the same numbers and the same gradients without a loop, in at most 8 ops whatever the
// shapes are.
//
// You may use: matmul(a, b), which multiplies [B, M, K] by [B, K, N] and gives [B, M, N];
// transpose(x, axis, other_axis); unsqueeze(x, axis); sum(x, {axis}); and + and *, which broadcast.
Tensor one_by_one(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
  std::vector<Tensor> batches;
  for (Index b = 0; b < q.size(0); ++b) {
    std::vector<Tensor> rows;
    for (Index i = 0; i < q.size(1); ++i) {
      std::vector<Tensor> row;
      for (Index j = 0; j < k.size(1); ++j) {
        const Tensor query = select(select(q, 0, b), 0, i), key = select(select(k, 0, b), 0, j);
        row.push_back(sum(query * w * key) + select(bias, 0, j));
      }
      rows.push_back(stack(row));
    }
    batches.push_back(stack(rows));
  }
  return stack(batches);
}

Tensor all_at_once(const Tensor& q, const Tensor& k, const Tensor& w, const Tensor& bias) {
  your_code_here();  // replace this line
}
