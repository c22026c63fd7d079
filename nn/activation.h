// The activations as layers, and Activation, which selects one in a config.
#pragma once

#include <array>

#include "engine/base/words.h"
#include "engine/ops/activation.h"
#include "nn/module.h"

namespace mote {

/// max(x, 0) as a layer.
struct ReLU : Layer<ReLU> {
  Tensor forward(const Tensor& x) const { return relu(x); }
  void visit(Visitor&) override {}
};
/// gelu(x) as a layer: x times the standard normal distribution function at x, or the tanh approximation of it.
struct GELU : Layer<GELU> {
  GeluForm form;
  explicit GELU(GeluForm gelu_form = GeluForm::exact) : form(gelu_form) {}
  Tensor forward(const Tensor& x) const { return gelu(x, form); }
  void visit(Visitor&) override {}
};
/// x sigmoid(x) as a layer.
struct SiLU : Layer<SiLU> {
  Tensor forward(const Tensor& x) const { return silu(x); }
  void visit(Visitor&) override {}
};
/// tanh(x) as a layer.
struct Tanh : Layer<Tanh> {
  Tensor forward(const Tensor& x) const { return tanh(x); }
  void visit(Visitor&) override {}
};
/// 1 / (1 + e^-x) as a layer.
struct Sigmoid : Layer<Sigmoid> {
  Tensor forward(const Tensor& x) const { return sigmoid(x); }
  void visit(Visitor&) override {}
};

/// The activations that a config can select. Only FeedForward has swiglu, because swiglu needs a second projection,
/// the gate.
enum class Activation { gelu, gelu_tanh, relu, silu, tanh, swiglu };
constexpr auto words(Activation) {
  return std::to_array<Word<Activation>>({{Activation::gelu, "gelu"},
                                          {Activation::gelu_tanh, "gelu_tanh"},
                                          {Activation::relu, "relu"},
                                          {Activation::silu, "silu"},
                                          {Activation::tanh, "tanh"},
                                          {Activation::swiglu, "swiglu"}});
}

/// Applies the named activation: x [...] -> [...]. Errors: swiglu, which takes two inputs.
inline Tensor activate(Activation activation, const Tensor& x) {
  switch (activation) {
    case Activation::gelu:
      return gelu(x);
    case Activation::gelu_tanh:
      return gelu(x, GeluForm::tanh);
    case Activation::relu:
      return relu(x);
    case Activation::silu:
      return silu(x);
    case Activation::tanh:
      return tanh(x);
    case Activation::swiglu:
      throw Error("activate: swiglu takes two tensors, x and a gate, but activate() has only x: use FeedForward");
  }
  throw Error("activate: activation " + std::to_string(static_cast<int>(activation)) + " is none of " +
              all_names(words(activation)));
}

}  // namespace mote
