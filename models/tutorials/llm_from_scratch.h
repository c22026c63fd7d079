// The class of "LLM from scratch - 1.3 Multi Head Self Attention": one projection for queries, keys and values, which
// prints the shape of every step.
#pragma once

#include <iosfwd>
#include <utility>

#include "nn/dropout.h"
#include "nn/linear.h"

namespace mote::tutorials::llm_from_scratch {

/// x [B, T, d_model] -> (out [B, T, d_model], weights [B, n_head, T, T] after dropout), where qkv(x) is cut into
/// [B, T, 3, n_head, d_head], weights = dropout(softmax(q k^T / sqrt(d_head))) and out = proj(joined weights v).
/// Nothing has a bias; gradients flow through the weights, too. `blocked` is the mask of the tutorial's two commented
/// lines: true may not be attended to. Prints its shapes while trace_shapes is on, as the tutorial's class does.
/// mote's SelfAttention with {.causal = false, .dropout = p}, {.bias = false, .resid_dropout = 0} computes the same to
/// rounding; where a query may attend to nothing it gives 0, this class NaN.
/// Errors: a d_model that n_head does not divide, sizes below 1, x of another rank or width.
struct MultiHeadSelfAttention : Layer<MultiHeadSelfAttention> {
  Index n_head, d_model, d_head;
  Linear qkv, proj;
  Dropout dropout;
  bool trace_shapes;
  std::ostream* trace_to;  ///< where the shapes go: std::cout, until you set another stream

  MultiHeadSelfAttention(Index heads, Index width, const Generator& random, double p = 0.0, bool trace = true);

  std::pair<Tensor, Tensor> forward(const Tensor& x, const Mask& blocked = {}) const;
  void visit(Visitor& v) override {
    v("qkv", qkv);
    v("proj", proj);
    v("dropout", dropout);
  }
};

}  // namespace mote::tutorials::llm_from_scratch
