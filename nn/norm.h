// Norm, a LayerNorm or an RMSNorm under one name, for models whose config selects one.
#pragma once

#include <array>

#include "engine/io/text/words.h"
#include "engine/ops/norm.h"
#include "nn/module.h"

namespace mote {

enum class NormKind { layer_norm, rms_norm };
constexpr auto words(NormKind) {
  return std::to_array<Word<NormKind>>({{NormKind::layer_norm, "layer_norm"}, {NormKind::rms_norm, "rms_norm"}});
}

/// layer_norm: (x - mean) / sqrt(var + eps) * weight + bias; rms_norm: x / sqrt(mean(x^2) + eps) * weight. x [..., C].
/// weight starts as ones, bias as zeros; an RMSNorm has no bias.
struct Norm : Layer<Norm> {
  Parameter weight, bias;
  NormKind kind;
  double eps;

  explicit Norm(NormKind which, Index features, double epsilon = 1e-5, bool with_bias = true)
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
