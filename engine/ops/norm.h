// layer_norm and rms_norm over the last axis.
#pragma once

#include <algorithm>
#include <limits>

#include "engine/autograd/op.h"
#include "engine/base/parallel.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/cost.h"

namespace mote {
namespace detail {

using NormForward = decltype(kernels::Table::layer_norm);
using NormBackward = decltype(kernels::Table::layer_norm_backward);

/// The backward rule of layer_norm and rms_norm, in one pass over the rows. The sums for weight and bias run over
/// blocks of 128 rows, and the blocks are added in order, so that the number of threads does not affect the bits. x
/// [..., C] is contiguous. stats holds {mean, inv_std} of every row.
inline constexpr auto norm_backward = [](const Array& dy, Grads& dx, const Array& x, const Array& weight,
                                         const Array& stats, NormBackward kernel) {
  const Array g = dy.contiguous();
  const Index n = x.shape()[-1], rows = n ? x.numel() / n : 0;
  constexpr Index block = 128;
  const Index blocks = (rows + block - 1) / block;
  Array d = dx.wants(0) ? Array::empty(x.shape()) : Array();
  Array of_weight = dx.wants(1) ? Array::zeros({blocks, n}) : Array();
  Array of_bias = dx.wants(2) ? Array::zeros({blocks, n}) : Array();
  const auto start = [](Array& a) { return a.defined() ? a.mutate() : nullptr; };
  real* const out = start(d);
  real* const w = start(of_weight);
  real* const b = start(of_bias);
  const kernels::NormInputs in{g.data(), x.data(), weight.defined() ? weight.data() : nullptr, stats.data()};
  // The rows of a task. The gradients of weight and bias are summed block by block, so their tasks have whole blocks.
  const Index step = w || b ? block : 1;
  parallel_for((rows + step - 1) / step,
               grain_for(static_cast<double>(step) * (cost::row + 2 * cost::norm * static_cast<double>(n))),
               [&](Index lo, Index hi) {
                 for (Index r = lo * step; r < std::min(hi * step, rows); r += block) {
                   const Index at = r * n, part = r / block * n;
                   kernel({in.dy + at, in.x + at, in.weight, in.stats + 2 * r},
                          {out ? out + at : nullptr, w ? w + part : nullptr, b ? b + part : nullptr},
                          std::min({block, hi * step - r, rows - r}), n);
                 }
               });
  const auto total = [&](const Array& parts) { return blocks == 1 ? parts.reshape({n}) : sum(parts, 0); };
  if (dx.wants(0)) dx.add(0, d);
  if (dx.wants(1)) dx.add(1, total(of_weight));
  if (dx.wants(2)) dx.add(2, total(of_bias));
};

inline void check_norm(const Tensor& x, const Tensor& weight, const Tensor& bias, double eps) {
  check(x.dim() >= 1, "x ", x.shape(), " needs at least one axis");
  check(eps >= 0, "eps ", eps, " must be at least 0");
  check(eps <= double(std::numeric_limits<float>::max()), "eps ", eps, " is beyond the range of float");
  const Shape row{x.size(-1)};
  if (weight.defined())
    check(weight.shape() == row, "weight ", weight.shape(), " does not fit x ", x.shape(),
          ": for x [..., C] it must be [C]");
  if (bias.defined())
    check(bias.shape() == row, "bias ", bias.shape(), " does not fit x ", x.shape(), ": for x [..., C] it must be [C]");
}

/// Computes the norm `forward` of the rows of a contiguous x, in parallel. Returns the result and {mean, inv_std} of
/// every row.
inline std::pair<Array, Array> norm(NormForward forward, const Array& x, const Array& weight, const Array& bias,
                                    double eps) {
  const Index n = x.shape()[-1], rows = n ? x.numel() / n : 0;
  Array y = Array::empty(x.shape()), stats = Array::empty({rows, 2});
  real* const out = y.mutate();
  real* const s = stats.mutate();
  const kernels::NormWeights weights{weight.defined() ? weight.data() : nullptr, bias.defined() ? bias.data() : nullptr,
                                     static_cast<real>(eps)};
  parallel_for(rows, grain_for(cost::row + cost::norm * static_cast<double>(n)),
               [&](Index lo, Index hi) { forward(x.data() + lo * n, weights, out + lo * n, s + 2 * lo, hi - lo, n); });
  return {y, stats};
}

/// The mean (`which` = 0) or the scale inv_std (`which` = 1) of every row, [..., 1], from the stats that norm()
/// returns.
inline Array column(const Array& stats, Index which, const Shape& x) {
  return stats.slice(1, which, which + 1).reshape(x.with(-1, 1));
}

/// layer_norm or rms_norm by separate ops, so that observers can change the scale before x is multiplied by it. The
/// scale [..., 1] is 1 / sqrt(var + eps), or 1 / sqrt(mean(x^2) + eps) in rms_norm. The result equals that of the fused
/// op, bit for bit.
inline Tensor plain_norm(bool has_mean, NormForward forward, const Tensor& x, const Tensor& weight, const Tensor& bias,
                         double eps) {
  check_norm(x, weight, bias, eps);
  const Array stats = norm(forward, x.array().contiguous(), {}, {}, eps).second;
  const real n = static_cast<real>(x.size(-1));
  Tensor centred = x;
  if (has_mean) {
    Op op("mean", x);
    centred = x - op.record(column(stats, 0, x.shape()), save(x.shape(), n),
                            [](const Array& dy, Grads& dx, const Shape& shape, real n) {
                              dx.add(0, (dy / n).expand(shape));
                            });
  }
  Op op("scale", centred);
  const Array scale = column(stats, 1, x.shape());
  Tensor y = centred *
             offer_value("scale", op.record(scale, save(centred, scale, n),
                                            [](const Array& dy, Grads& dx, const Array& c, const Array& s, real n) {
                                              dx.add(0, dy * s * s * s * c * (-1 / n));  // s = (mean(c^2) + eps)^-1/2
                                            }));
  if (weight.defined()) y = y * weight;
  return bias.defined() ? y + bias : y;
}

/// The op of layer_norm and of rms_norm. For backward it keeps x, the weight, and {mean, inv_std} of every row.
inline Tensor norm(OpName name, bool has_mean, NormForward forward, NormBackward backward, const Tensor& x,
                   const Tensor& weight, const Tensor& bias, double eps) {
  const Want wanted = wanted_value("scale");
  if (wanted == Want::to_change) [[unlikely]] {
    const Op op(name);
    return plain_norm(has_mean, forward, x, weight, bias, eps);
  }
  Op op(name, x, weight, bias);
  check_norm(x, weight, bias, eps);
  const auto rows = [](const Tensor& t) { return t.defined() ? t.array().contiguous() : Array(); };
  const Array in = rows(x), w = rows(weight);
  const auto [y, stats] = norm(forward, in, w, rows(bias), eps);
  if (wanted == Want::to_see) show_value("scale", column(stats, 1, x.shape()));
  return op.record(y, save(in, w, stats, backward), norm_backward);
}

}  // namespace detail

/// y = (x - mean) / sqrt(var + eps) * weight + bias, with the mean and var of each row along the last axis. var is
/// the biased variance, computed from x - mean. x [..., C], weight [C], bias [C]. weight and bias may be undefined. A
/// constant row gives exactly the bias (NaN if eps is 0). Errors: weight or bias of another length, an eps below 0 or
/// beyond the range of float. Source: Ba, Kiros and Hinton 2016.
inline Tensor layer_norm(const Tensor& x, const Tensor& weight = {}, const Tensor& bias = {}, Fraction eps = 1e-5) {
  const kernels::Table& t = kernels::table();
  return detail::norm("layer_norm", true, t.layer_norm, t.layer_norm_backward, x, weight, bias, eps);
}

/// y = x / sqrt(mean(x^2) + eps) * weight, with the mean over the last axis. x [..., C], weight [C] or undefined.
/// Errors: a weight of another length, an eps below 0 or beyond the range of float. Source: Zhang and Sennrich 2019.
inline Tensor rms_norm(const Tensor& x, const Tensor& weight = {}, Fraction eps = 1e-5) {
  const kernels::Table& t = kernels::table();
  return detail::norm("rms_norm", false, t.rms_norm, t.rms_norm_backward, x, weight, Tensor(), eps);
}

}  // namespace mote
