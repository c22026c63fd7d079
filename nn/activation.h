// The activations as layers, and Activation, which names one in a config.
#pragma once

#include <string>

#include "engine/ops/activation.h"
#include "nn/module.h"

namespace mote {

struct ReLU : Layer<ReLU> {
  Tensor forward(const Tensor& x) const { return relu(x); }
  void visit(Visitor&) override {}
};
struct GELU : Layer<GELU> {
  GeluForm form;
  explicit GELU(GeluForm gelu_form = GeluForm::exact) : form(gelu_form) {}
  Tensor forward(const Tensor& x) const { return gelu(x, form); }
  void visit(Visitor&) override {}
};
struct SiLU : Layer<SiLU> {
  Tensor forward(const Tensor& x) const { return silu(x); }
  void visit(Visitor&) override {}
};
struct Tanh : Layer<Tanh> {
  Tensor forward(const Tensor& x) const { return tanh(x); }
  void visit(Visitor&) override {}
};
struct Sigmoid : Layer<Sigmoid> {
  Tensor forward(const Tensor& x) const { return sigmoid(x); }
  void visit(Visitor&) override {}
};

/// The activations a config can name. swiglu is silu of a gate times the rest, and so needs a FeedForward around it.
enum class Activation { gelu, gelu_tanh, relu, silu, tanh, swiglu };

/// The activation of that name: x [...] -> [...]. Errors: swiglu, which takes two numbers.
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
      throw Error("activate: swiglu is no function of one number; FeedForward has it");
  }
  throw Error("activate: unknown activation");
}

/// "gelu", "gelu_tanh", "relu", "silu", "tanh" or "swiglu". Errors: any other word; the sentence lists these.
inline Activation activation_from(const std::string& name) {
  if (name == "gelu") return Activation::gelu;
  if (name == "gelu_tanh") return Activation::gelu_tanh;
  if (name == "relu") return Activation::relu;
  if (name == "silu") return Activation::silu;
  if (name == "tanh") return Activation::tanh;
  if (name == "swiglu") return Activation::swiglu;
  throw Error("activation '" + name + "' is none of gelu, gelu_tanh, relu, silu, tanh, swiglu");
}

}  // namespace mote
