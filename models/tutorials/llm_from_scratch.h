// The class of "LLM from scratch - 1.3 Multi Head Self Attention". It has one projection for queries, keys and values,
// and prints the shape of every step.
#pragma once

#include <iosfwd>
#include <utility>

#include "engine/ops/masks.h"
#include "nn/dropout.h"
#include "nn/linear.h"

namespace mote::tutorials::llm_from_scratch {

/// A mask that is true where a query may not attend, as in the two lines of the tutorial that are commented out. mote's
/// masks, such as mote::causal_mask, are true where a query may attend. Blocked is a type of its own, so that no Mask
/// converts to it by mistake.
struct Blocked {
  Mask mask;
};
/// The tutorial's attn_mask.causal_mask: true above the diagonal of [T, T].
inline Blocked causal_mask(Index T) { return {~mote::causal_mask(T)}; }

/// The tutorial's multi-head self-attention: x [B, T, d_model] -> out [B, T, d_model] and weights [B, n_head, T, T].
/// qkv(x) is cut into q, k and v: [B, T, 3, n_head, d_head]. weights = dropout(softmax(q k^T / sqrt(d_head))). out =
/// proj(join(weights v)). No layer has a bias. Gradients also flow through the weights. It prints its shapes while
/// trace_shapes is on, as the tutorial's class does. mote's SelfAttention with the options {.causal = false, .dropout =
/// p}, {.bias = false, .resid_dropout = 0} computes the same up to rounding, except for a query that may attend to
/// nothing. For such a query SelfAttention gives 0, and this class gives NaN. Errors: a d_model that n_head does not
/// divide, sizes below 1, x of another rank or width.
struct MultiHeadSelfAttention : Layer<MultiHeadSelfAttention> {
  Index n_head, d_model, d_head;
  Linear qkv, proj;
  Dropout dropout;
  bool trace_shapes;
  std::ostream* trace_to;  ///< where the shapes go: std::cout, until you set another stream

  MultiHeadSelfAttention(Integer heads, Integer width, const Generator& random, Real p = 0.0, Flag trace = true);

  std::pair<Tensor, Tensor> forward(const Tensor& x, const Blocked& blocked = {}) const;
  void visit(Visitor& v) override {
    v("qkv", qkv);
    v("proj", proj);
    v("dropout", dropout);
  }
};

}  // namespace mote::tutorials::llm_from_scratch
