// What is here: FeedForward, the two-layer network inside a transformer block.
// What is not: the residual connection around it (transformer_block.h).
// Read next: attention.h.
#pragma once

#include "nn/activation.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace mote {

/// dropout(c_proj(activation(c_fc(x)))). x [..., C] -> [..., C] through `hidden`, usually 4 C. nanoGPT's names.
struct FeedForward : Layer<FeedForward> {
  Linear c_fc, c_proj;
  Activation activation;
  Dropout dropout;

  FeedForward(Index features, Index hidden, const Init& init, Activation act = Activation::gelu, double p = 0,
              bool bias = true)
      : c_fc(features, hidden, init, bias),
        c_proj(hidden, features, init, bias),
        activation(act),
        dropout(p, init.random()) {}
  Tensor forward(const Tensor& x) const { return dropout(c_proj(activate(activation, c_fc(x)))); }
  void visit(Visitor& v) override {
    v("c_fc", c_fc);
    v("c_proj", c_proj);
    v("dropout", dropout);
  }
};

}  // namespace mote
