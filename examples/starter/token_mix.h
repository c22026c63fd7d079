// A layer of your own: TokenMix, a feed-forward network that reads each token together with the token before it.
#pragma once

#include "engine/ops/activation.h"
#include "engine/ops/arithmetic.h"
#include "nn/linear.h"
#include "shift.h"

namespace starter {

/// c_proj(relu(now(x) + before(shift(x)))): x [..., T, width] -> [..., T, width]. The hidden layer has `hidden`
/// columns.
struct TokenMix : Layer<TokenMix> {
  Linear now, before, c_proj;
  TokenMix(Index width, Index hidden, const Init& init)
      : now(width, hidden, init), before(width, hidden, init), c_proj(hidden, width, init) {}
  Tensor forward(const Tensor& x) const {
    const Tensor here = now(x);  // a line of its own: in one expression, C++ could call now() or before() first
    const Tensor there = before(shift(x));
    return c_proj(relu(here + there));
  }
  void visit(Visitor& v) override {
    v("now", now);
    v("before", before);
    v("c_proj", c_proj);
  }
};

}  // namespace starter
