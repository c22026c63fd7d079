// LayerNorm.
#pragma once

#include "engine/ops/norm.h"
#include "nn/module.h"

namespace mote {

/// y = (x - mean) / sqrt(var + eps) * weight + bias over the last axis, x [..., C]. weight starts as 1, bias as 0.
struct LayerNorm : Layer<LayerNorm> {
  Parameter weight, bias;
  double eps;

  explicit LayerNorm(Index features, double epsilon = 1e-5, bool with_bias = true)
      : weight(Array::full({features}, 1)), eps(epsilon) {
    if (with_bias) bias = Parameter(Array::zeros({features}));
  }
  Tensor forward(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace mote
