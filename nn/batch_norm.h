// BatchNorm1d: a norm over the batch, with running statistics for evaluation.
#pragma once

#include "engine/ops/arithmetic.h"
#include "engine/ops/reduce.h"
#include "engine/ops/unary.h"
#include "engine/ops/view.h"
#include "nn/module.h"
#include "nn/norm.h"

namespace mote {

/// y = (x - mean) / sqrt(var + eps) * weight + bias for x [N, C] or [N, C, L], as in PyTorch. Each of the C channels
/// has its own mean and var, over all other axes. In training, mean and var (with correction 0) are those of the batch,
/// and the running statistics move towards them: running = (1 - momentum) running + momentum * batch, where the batch's
/// var has correction 1. In evaluation, the running statistics are used. weight starts as 1, bias as 0, running_mean as
/// 0, running_var as 1. Errors: an x of another shape; in training, a single value per channel. Source: Ioffe and
/// Szegedy 2015.
struct BatchNorm1d : Layer<BatchNorm1d> {
  Parameter weight, bias;
  mutable Array running_mean, running_var;  ///< buffers, not weights; mutable because a const forward updates them
  double eps, momentum;

  explicit BatchNorm1d(Integer features, Fraction epsilon = 1e-5, Fraction momentum_of_batch = 0.1)
      : weight(Array::full({features}, 1)),
        bias(Array::zeros({features})),
        running_mean(Array::zeros({features})),
        running_var(Array::full({features}, 1)),
        eps(detail::checked_eps(epsilon)),
        momentum(momentum_of_batch) {
    check_in("BatchNorm1d", momentum >= 0 && momentum <= 1, "momentum ", momentum, " is not in [0, 1]");
  }

  Tensor forward(const Tensor& x) const {
    const Index features = weight.shape()[0];
    check_in("BatchNorm1d", (x.dim() == 2 || x.dim() == 3) && x.size(1) == features, "x ", x.shape(),
             " must be [N, C] or [N, C, L] with C = ", features);
    const bool lengths = x.dim() == 3;
    const auto of_channels = [&](const Tensor& t) { return lengths ? unsqueeze(t, -1) : t; };
    if (!training()) return scaled(x, of_channels(running_mean), of_channels(running_var), of_channels);

    const Axes others = lengths ? Axes{0, 2} : Axes{0};
    const Index count = x.numel() / std::max<Index>(features, 1);
    check_in("BatchNorm1d", count > 1, "x ", x.shape(), " has ", count, count == 1 ? " value" : " values",
             " per channel: training needs at least 2");
    const Tensor mean_of_batch = mean(x, others, true), var_of_batch = var(x, others, 0, true);
    const real unbiased = static_cast<real>(count) / static_cast<real>(count - 1);
    move(running_mean, mean_of_batch.array());
    move(running_var, var_of_batch.array() * unbiased);
    return scaled(x, mean_of_batch, var_of_batch, of_channels);
  }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
    v.buffer("running_mean", running_mean);
    v.buffer("running_var", running_var);
  }

 private:
  void move(Array& running, const Array& of_batch) const {
    running = running * (1 - momentum) + of_batch.reshape(running.shape()) * momentum;
  }
  template <class OfChannels>
  Tensor scaled(const Tensor& x, const Tensor& centre, const Tensor& spread, const OfChannels& of_channels) const {
    return (x - centre) / sqrt(spread + eps) * of_channels(weight) + of_channels(bias);
  }
};

}  // namespace mote
