// RMSNorm.
#pragma once

#include "engine/ops/norm.h"
#include "nn/module.h"

namespace mote {

/// y = x / sqrt(mean(x^2) + eps) * weight over the last axis; weight starts as ones. x [..., C].
struct RMSNorm : Layer<RMSNorm> {
  Parameter weight;
  double eps;

  explicit RMSNorm(Index features, double epsilon = 1e-5) : weight(Array::full({features}, 1)), eps(epsilon) {}
  Tensor forward(const Tensor& x) const { return rms_norm(x, weight, eps); }
  void visit(Visitor& v) override { v("weight", weight); }
};

}  // namespace mote
