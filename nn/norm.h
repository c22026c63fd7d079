// The norms LayerNorm and RMSNorm, and ChosenNorm, which holds the one that a config names.
#pragma once

#include <array>
#include <cmath>
#include <utility>
#include <variant>

#include "engine/base/words.h"
#include "engine/ops/norm.h"
#include "nn/module.h"

namespace mote {

namespace detail {
/// The eps of a norm. Errors: below 0, not finite.
inline double checked_eps(double eps) {
  check_in("norm", eps >= 0 && std::isfinite(eps), "eps ", eps, " must be finite and at least 0");
  return eps;
}
}  // namespace detail

/// y = (x - mean) / sqrt(var + eps) * weight + bias, with mean and var over the last axis of x [..., C]. weight starts
/// as 1, bias as 0.
struct LayerNorm : Layer<LayerNorm> {
  Parameter weight, bias;
  double eps;

  explicit LayerNorm(Integer features, Fraction epsilon = 1e-5, Flag with_bias = true)
      : weight(Array::full({features}, 1)), eps(detail::checked_eps(epsilon)) {
    if (with_bias) bias = Parameter(Array::zeros({features}));
  }
  Tensor forward(const Tensor& x) const { return layer_norm(x, weight, bias, eps); }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
};

/// y = x / sqrt(mean(x^2) + eps) * weight, with the mean over the last axis of x [..., C]. weight starts as 1.
struct RMSNorm : Layer<RMSNorm> {
  Parameter weight;
  double eps;

  explicit RMSNorm(Integer features, Fraction epsilon = 1e-5)
      : weight(Array::full({features}, 1)), eps(detail::checked_eps(epsilon)) {}
  Tensor forward(const Tensor& x) const { return rms_norm(x, weight, eps); }
  void visit(Visitor& v) override { v("weight", weight); }
};

/// The norms that a config can select.
enum class NormKind { layer_norm, rms_norm };
constexpr auto words(NormKind) {
  return std::to_array<Word<NormKind>>({{NormKind::layer_norm, "layer_norm"}, {NormKind::rms_norm, "rms_norm"}});
}

/// The norm that a config names. It holds a LayerNorm or an RMSNorm, and is called like either.
struct ChosenNorm {
  std::variant<LayerNorm, RMSNorm> layer;

  explicit ChosenNorm(NormKind kind, Integer features, Fraction eps = 1e-5, Flag with_bias = true)
      : layer(std::in_place_type<RMSNorm>, features, eps) {
    if (kind == NormKind::layer_norm) layer.emplace<LayerNorm>(features, eps, with_bias);
  }
  Tensor operator()(const Tensor& x) const {
    return std::visit([&x](const auto& norm) { return norm(x); }, layer);
  }
};

}  // namespace mote
