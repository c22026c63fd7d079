// Mix, a layer that does with all positions whatever it is told: what somebody may put into GPT's block.
#pragma once

#include <functional>

#include "engine/ops/ops.h"
#include "nn/module.h"

namespace mote {

/// x [B, T, C] -> f(x, weight), of the same shape; weight [3, C, C].
struct Mix : Layer<Mix> {
  using Function = std::function<Tensor(const Tensor& x, const Tensor& weight)>;
  Function f;
  Parameter weight;
  Mix(Index width, const Init& init, Function function)
      : f(std::move(function)), weight(init.normal({3, width, width}, 0, 0.3)) {}
  Tensor forward(const Tensor& x) const { return f(x, weight); }
  void visit(Visitor& v) override { v("weight", weight); }
};

}  // namespace mote
