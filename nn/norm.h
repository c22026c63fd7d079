// The norms: LayerNorm, RMSNorm, and Norm, which is the one that a config names.
#pragma once

#include <array>

#include "engine/base/words.h"
#include "engine/ops/norm.h"
#include "nn/module.h"

namespace mote {

/// y = (x - mean) / sqrt(var + eps) * weight + bias over the last axis, x [..., C]. weight starts as 1, bias as 0.
struct LayerNorm : Layer<LayerNorm> {
  Parameter weight, bias;
  double eps;

  explicit LayerNorm(Integer features, Fraction epsilon = 1e-5, Flag with_bias = true)
      : weight(Array::full({features}, 1)), eps(epsilon) {
    if (with_bias) bias = Parameter(Array::zeros({features}));
  }
  Tensor forward(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
};

/// y = x / sqrt(mean(x^2) + eps) * weight over the last axis; weight starts as 1. x [..., C].
struct RMSNorm : Layer<RMSNorm> {
  Parameter weight;
  double eps;

  explicit RMSNorm(Integer features, Fraction epsilon = 1e-5) : weight(Array::full({features}, 1)), eps(epsilon) {}
  Tensor forward(const Tensor& x) const { return rms_norm(x, weight, eps); }
  void visit(Visitor& v) override { v("weight", weight); }
};

enum class NormKind { layer_norm, rms_norm };
constexpr auto words(NormKind) {
  return std::to_array<Word<NormKind>>({{NormKind::layer_norm, "layer_norm"}, {NormKind::rms_norm, "rms_norm"}});
}

/// Either of them, under the same names.
struct Norm : Layer<Norm> {
  Parameter weight, bias;
  NormKind kind;
  double eps;

  explicit Norm(NormKind which, Integer features, Fraction epsilon = 1e-5, Flag with_bias = true)
      : weight(Array::full({features}, 1)), kind(which), eps(epsilon) {
    if (with_bias && kind == NormKind::layer_norm) bias = Parameter(Array::zeros({features}));
  }
  Tensor forward(const Tensor& x) const {
    return kind == NormKind::layer_norm ? layer_norm(x, weight, bias, eps) : rms_norm(x, weight, eps);
  }
  std::string type_name() const override { return kind == NormKind::layer_norm ? "LayerNorm" : "RMSNorm"; }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace mote
