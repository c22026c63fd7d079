// matmul and linear, in which a model spends nearly all its time, and outer.
#pragma once

#include "engine/autograd/op.h"

namespace mote {

/// The matrix product of the last two axes; leading axes broadcast. a [..., M, K], b [..., K, N] -> [..., M, N]. An
/// input of rank 1 counts as a row on the left and as a column on the right, and the result drops that axis.
/// kernels::gemm defines the order in which K is summed. Errors: inner extents differ, rank 0, leading axes that do
/// not broadcast.
inline Tensor matmul(const Tensor& a, const Tensor& b) {
  Op op("matmul", a, b);
  return op.record(matmul(a.array(), b.array()), save(a, b),
                   [](const Array& dy, Grads& dx, const Array& a, const Array& b) {
                     const Array row = a.rank() == 1 ? a.unsqueeze(0) : a, column = b.rank() == 1 ? b.unsqueeze(1) : b;
                     Array d = a.rank() == 1 ? dy.unsqueeze(b.rank() == 1 ? -1 : -2) : dy;
                     if (b.rank() == 1) d = d.unsqueeze(-1);
                     // If all matrices of A share one B, the matrices of A are stacked as the rows of one product.
                     const bool one = column.numel() == column.shape()[-2] * column.shape()[-1];
                     const auto undo = [](const Array& grad, const Array& x, const Array& full) {
                       return sum_to(grad, full.shape()).reshape(x.shape());
                     };
                     if (dx.wants(0)) dx.add(0, undo(matmul(d, column.transpose(-2, -1)), a, row));  // dA = dY B^T
                     if (!dx.wants(1)) return;
                     const Array left = one ? as_rows(row) : row, dy_rows = one ? as_rows(d) : d;
                     const Array db = matmul(left.transpose(-2, -1), dy_rows);  // dB = A^T dY
                     dx.add(1, one ? db.reshape(b.shape()) : undo(db, b, column));
                   });
}

namespace detail {
/// Computes the gradients of linear's weight and bias, and adds them to dx. dy and x are matrices of rows.
inline void linear_weight_gradients(const Array& dy, Grads& dx, const Array& x) {
  if (dx.wants(1)) dx.add(1, matmul(dy.transpose(0, 1), x));  // dW = dY^T X
  if (dx.wants(2)) dx.add(2, sum(dy, 0));                     // db = the sum of dY's rows
}
}  // namespace detail

/// y = x W^T + bias: x [..., in], weight [out, in], bias [out] or undefined -> [..., out]. The weight has PyTorch's
/// layout. Errors: a last extent of x that is not `in`, a bias that is not [out].
inline Tensor linear(const Tensor& x, const Tensor& weight, const Tensor& bias = {}) {
  Op op("linear", x, weight, bias);
  return op.record(linear(x.array(), weight.array(), bias.array()), save(x, weight),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& weight) {
                     const Array d = as_rows(dy);
                     if (dx.wants(0)) dx.add(0, matmul(d, weight).reshape(x.shape()));  // dX = dY W
                     detail::linear_weight_gradients(d, dx, as_rows(x));
                   });
}

/// The outer product a[i] b[j]: a [N], b [M] -> [N, M]. Errors: a rank other than 1.
inline Tensor outer(const Tensor& a, const Tensor& b) {
  Op op("outer", a, b);
  check(a.dim() == 1, "the first vector has shape ", a.shape(), ", but must have one axis");
  check(b.dim() == 1, "the second vector has shape ", b.shape(), ", but must have one axis");
  return op.record(a.array().unsqueeze(1) * b.array(), save(a, b),
                   [](const Array& dy, Grads& dx, const Array& a, const Array& b) {
                     if (dx.wants(0)) dx.add(0, sum(dy * b, 1));
                     if (dx.wants(1)) dx.add(1, sum(dy * a.unsqueeze(1), 0));
                   });
}

}  // namespace mote
