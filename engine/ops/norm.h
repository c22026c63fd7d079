// layer_norm and rms_norm over the last axis.
#pragma once

#include "engine/ops/softmax.h"

namespace mote {
namespace detail {

using NormBackward = void(const real*, const real*, const real*, const real*, real*, Index);

/// The gradients of both norms: dx row by row, then the sums over rows for weight and bias. Rows are summed in blocks
/// of 128 and the blocks in order, so that threads do not affect the bits. x contiguous [..., C]; stats {shift, scale}
/// per row; rms_norm has no third input.
inline void norm_backward(const Array& dy, Grads& dx, const Array& x, const Array& weight, const Array& stats,
                          NormBackward* rule, bool has_bias) {
  const Array g = dy.contiguous();
  const Index n = x.shape()[-1], rows = n ? x.numel() / n : 0;
  if (dx.wants(0)) {
    Array d = Array::empty(x.shape());
    real* const out = d.mutate();
    const real* const w = weight.defined() ? weight.data() : nullptr;
    for_rows(x.shape(),
             [&](Index row, Index at) { rule(g.data() + at, x.data() + at, w, stats.data() + 2 * row, out + at, n); });
    dx.add(0, d);
  }
  if (dx.wants(1)) {
    constexpr Index block = 128;
    const Index blocks = (rows + block - 1) / block;
    Array parts = Array::zeros({blocks, n});
    real* const part = parts.mutate();
    const auto f = kernels::table().add_scaled_product;
    parallel_for(blocks, 1, [&](Index lo, Index hi) {
      for (Index row = lo * block; row < std::min(hi * block, rows); ++row) {
        const real* const s = stats.data() + 2 * row;
        f(g.data() + row * n, x.data() + row * n, s[0], s[1], part + row / block * n, n);
      }
    });
    dx.add(1, sum(parts, 0));
  }
  if (has_bias && dx.wants(2)) dx.add(2, sum(g.reshape({rows, n}), 0));
}

inline void check_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check(x.dim() >= 1, "needs at least one axis");
  check(eps >= 0, "eps ", eps, " must be at least 0");
  const Shape row{x.size(-1)};
  if (weight.defined())
    check(weight.shape() == row, "weight ", weight.shape(), " does not fit the last axis of x ", x.shape());
  if (bias.defined()) check(bias.shape() == row, "bias ", bias.shape(), " does not fit the last axis of x ", x.shape());
}

}  // namespace detail

/// y = (x - mean) / sqrt(var + eps) * weight + bias over the last axis, var biased and computed from centred values. x
/// [..., C], weight [C], bias [C]; both may be undefined. A constant row gives exactly the bias (NaN if eps is 0).
/// Errors: weight or bias of another length, an eps below 0. Source: Ba, Kiros and Hinton 2016.
inline Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, double eps = 1e-5) {
  Op op("layer_norm", x, weight, bias);
  detail::check_norm(x, weight, bias, eps);
  const Array in = x.array().contiguous();
  const Array w = weight.defined() ? weight.array().contiguous() : Array(),
              b = bias.defined() ? bias.array().contiguous() : Array();
  const Index n = in.shape()[-1];
  Array y = Array::empty(in.shape()), stats = Array::empty({n ? in.numel() / n : 0, 2});
  real *const out = y.mutate(), *const s = stats.mutate();
  const auto f = kernels::table().layer_norm;
  detail::for_rows(in.shape(), [&](Index row, Index at) {
    f(in.data() + at, w.defined() ? w.data() : nullptr, b.defined() ? b.data() : nullptr, static_cast<real>(eps),
      out + at, s + 2 * row, n);
  });
  // mean, difference, square and sum, scale, weight, bias
  op.flops(7 * in.numel(), {9 * in.numel(), 4 * in.numel(), in.numel()});
  return op.record(y, save(in, w, stats),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& weight, const Array& stats) {
                     detail::norm_backward(dy, dx, x, weight, stats, kernels::table().layer_norm_backward, true);
                   });
}

/// y = x / sqrt(mean(x^2) + eps) * weight over the last axis. x [..., C], weight [C] or undefined.
/// Errors: a weight of another length, an eps below 0. Source: Zhang and Sennrich 2019.
inline Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, double eps = 1e-5) {
  Op op("rms_norm", x, weight);
  detail::check_norm(x, weight, {}, eps);
  const Array in = x.array().contiguous();
  const Array w = weight.defined() ? weight.array().contiguous() : Array();
  const Index n = in.shape()[-1];
  Array y = Array::empty(in.shape()), stats = Array::empty({n ? in.numel() / n : 0, 2});
  real *const out = y.mutate(), *const s = stats.mutate();
  const auto f = kernels::table().rms_norm;
  detail::for_rows(in.shape(), [&](Index row, Index at) {
    f(in.data() + at, w.defined() ? w.data() : nullptr, static_cast<real>(eps), out + at, s + 2 * row, n);
  });
  op.flops(4 * in.numel(), {7 * in.numel(), 3 * in.numel()});  // square and sum, scale, weight
  return op.record(y, save(in, w, stats),
                   [](const Array& dy, Grads& dx, const Array& x, const Array& weight, const Array& stats) {
                     detail::norm_backward(dy, dx, x, weight, stats, kernels::table().rms_norm_backward, false);
                   });
}

}  // namespace mote
