// Linear, a matrix and a bias. It is the simplest layer, so read it first.
#pragma once

#include "engine/ops/matmul.h"
#include "nn/init.h"
#include "nn/module.h"

namespace mote {

/// y = x W^T + b. x [..., in] -> [..., out]; weight [out, in], bias [out]. Both are drawn uniformly within
/// +-1/sqrt(in), the weight first, as in PyTorch. Errors: a last extent of x that is not `in`.
struct Linear : Layer<Linear> {
  Parameter weight, bias;

  Linear(Integer in_features, Integer out_features, const Init& init, Flag with_bias = true) {
    check_in("Linear", in_features >= 0, "in_features ", in_features, " must be at least 0");
    check_in("Linear", out_features >= 0, "out_features ", out_features, " must be at least 0");
    const double bound = in_features > 0 ? 1 / std::sqrt(static_cast<double>(Index(in_features))) : 0;
    weight = Parameter(init.uniform({out_features, in_features}, -bound, bound));
    if (with_bias) bias = Parameter(init.uniform({out_features}, -bound, bound));
  }
  __attribute__((unavailable("pass the Generator that weights are drawn from: Linear(3, 4, random)")))
  Linear(Integer, Integer);
  Tensor forward(const Tensor& x) const { return linear(x, weight, bias); }
  void visit(Visitor& v) override {
    v("weight", weight);
    v("bias", bias);
  }
};

}  // namespace mote
