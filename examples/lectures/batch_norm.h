// The batch norm of makemore's lectures. It divides by the unbiased variance also in training, where PyTorch's
// BatchNorm1d divides by the biased variance.
#pragma once

#include "engine/engine.h"

namespace mote {

/// gamma (x - mean) / sqrt(var + 1e-5) + beta: x [..., features] -> [..., features]. In training, mean and var are the
/// mean and variance of each feature over all other axes of x. In evaluation, mean and var are running averages. Each
/// training batch changes a running average to 0.9 of its old value plus 0.1 of the batch's value.
struct LectureBatchNorm {
  Parameter gamma, beta;
  Array running_mean, running_var;

  explicit LectureBatchNorm(Index features, double gain = 1)
      : gamma(Array::full({features}, static_cast<real>(gain))),
        beta(Array::zeros({features})),
        running_mean(Array::zeros({features})),
        running_var(Array::full({features}, 1)) {}

  Tensor operator()(const Tensor& x, bool training) {
    if (!training) return scaled(x, running_mean, running_var);
    const Axes others = x.dim() == 2 ? Axes{0} : Axes{0, 1};
    const Tensor xmean = mean(x, others, true), xvar = var(x, others, 1, true);
    running_mean = running_mean * 0.9 + xmean.array().reshape(running_mean.shape()) * 0.1;
    running_var = running_var * 0.9 + xvar.array().reshape(running_var.shape()) * 0.1;
    return scaled(x, xmean, xvar);
  }

 private:
  Tensor scaled(const Tensor& x, const Tensor& centre, const Tensor& spread) const {
    return gamma * ((x - centre) / sqrt(spread + 1e-5)) + beta;
  }
};

}  // namespace mote
