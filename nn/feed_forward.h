// FeedForward, the two-layer network inside a transformer block.
#pragma once

#include <optional>

#include "engine/ops/arithmetic.h"
#include "engine/ops/gelu_linear.h"
#include "nn/activation.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace mote {

/// dropout(c_proj(activation(c_fc(x)))), or dropout(c_proj(silu(c_gate(x)) * c_fc(x))) with Activation::swiglu. x
/// [..., C] -> [..., C]. The width between the two projections is `hidden`, usually 4 C. The names are nanoGPT's.
/// Source of swiglu: Shazeer 2020.
struct FeedForward : Layer<FeedForward> {
  std::optional<Linear> c_gate;  ///< swiglu only
  Linear c_fc, c_proj;
  Activation activation;
  Dropout dropout;

  FeedForward(Integer features, Integer hidden, const Init& init, Activation act = Activation::gelu, Real p = 0,
              Flag bias = true)
      : c_gate(act == Activation::swiglu ? std::optional<Linear>(std::in_place, features, hidden, init, bias)
                                         : std::nullopt),
        c_fc(features, hidden, init, bias),
        c_proj(hidden, features, init, bias),
        activation(act),
        dropout(p, init.random()) {}
  Tensor forward(const Tensor& x) const {
    if (!c_gate) return dropout(project(c_fc(x)));
    const Tensor open = silu((*c_gate)(x));
    const Tensor y = c_fc(x);
    return dropout(c_proj(open * y));
  }
  void visit(Visitor& v) override {
    v("c_gate", c_gate);
    v("c_fc", c_fc);
    v("c_proj", c_proj);
    v("dropout", dropout);
  }

 private:
  /// c_proj(activation(h)). A GELU and c_proj run as one op, so that only h is kept for backward, and not also gelu(h),
  /// which is just as wide.
  Tensor project(const Tensor& h) const {
    const bool exact = activation == Activation::gelu;
    if (!exact && activation != Activation::gelu_tanh) return c_proj(activate(activation, h));

    const detail::OpenLayer here(c_proj);
    Tensor y = gelu_linear(h, c_proj.weight, c_proj.bias, exact ? GeluForm::exact : GeluForm::tanh);
    here.offer(y);
    return y;
  }
};

}  // namespace mote
