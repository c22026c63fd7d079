// MLP, a plain network of fully connected layers.
#pragma once

#include "nn/activation.h"
#include "nn/linear.h"

namespace mote {

/// Linear layers of the given widths, with an activation after each but the last, such as MLP({2, 16, 16, 1}, random).
/// x [..., widths.front()] -> [..., widths.back()]. Errors: fewer than two widths.
struct MLP : Layer<MLP> {
  std::vector<Linear> layers;
  Activation activation;

  MLP(const std::vector<Index>& widths, const Init& init, Activation act = Activation::relu) : activation(act) {
    check_in("MLP", widths.size() >= 2, "widths ", widths,
             " must be at least two, those of the input and of the output");
    for (std::size_t i = 0; i + 1 < widths.size(); ++i) layers.emplace_back(widths[i], widths[i + 1], init);
  }
  __attribute__((unavailable("pass the Generator that weights are drawn from: MLP({3, 16, 2}, random)"))) explicit MLP(
      const std::vector<Index>&);
  Tensor forward(const Tensor& x) const {
    Tensor y = x;
    for (std::size_t i = 0; i < layers.size(); ++i) {
      y = layers[i](y);
      if (i + 1 < layers.size()) y = activate(activation, y);
    }
    return y;
  }
  void visit(Visitor& v) override { v("layers", layers); }
};

}  // namespace mote
