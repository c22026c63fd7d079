// The forward pass of "LLM from scratch 1.3", line by line as the tutorial has it.
#include "models/tutorials/llm_from_scratch.h"

#include <cmath>
#include <iostream>
#include <limits>
#include <string>
#include <vector>

#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/softmax.h"
#include "engine/ops/view.h"
#include "nn/heads.h"

namespace mote::tutorials::llm_from_scratch {

MultiHeadSelfAttention::MultiHeadSelfAttention(Integer heads, Integer width, const Generator& random, Real p,
                                               Flag trace)
    : n_head(checked_heads("MultiHeadSelfAttention", width, heads, 0, 0, {})),
      d_model(width),
      d_head(width / heads),
      qkv(width, 3 * width, random, false),
      proj(width, width, random, false),
      dropout(p, random),
      trace_shapes(trace),
      trace_to(&std::cout) {}

std::pair<Tensor, Tensor> MultiHeadSelfAttention::forward(const Tensor& x, const Blocked& blocked) const {
  check_in("MultiHeadSelfAttention", x.dim() == 3 && x.size(2) == d_model, "x ", x.shape(), " must be [B, T, ", d_model,
           "]");
  const auto size = [](const Tensor& y) { return "torch.Size(" + text_of(y.shape()) + ")"; };  // as PyTorch prints it
  const Index B = x.size(0), T = x.size(1), D = x.size(2);
  const Tensor packed = view(qkv(x), {B, T, 3, n_head, d_head});
  if (trace_shapes) *trace_to << "qkv view: " << size(packed) << "\n";

  const std::vector<Tensor> parts = unbind(packed, 2);  // three of [B, T, n_head, d_head]
  const Tensor q = transpose(parts[0], 1, 2);           // [B, n_head, T, d_head]
  const Tensor k = transpose(parts[1], 1, 2);
  const Tensor v = transpose(parts[2], 1, 2);
  if (trace_shapes) *trace_to << "q: " << size(q) << " k: " << size(k) << " v: " << size(v) << "\n";

  const real scale = static_cast<real>(1 / std::sqrt(static_cast<double>(d_head)));
  Tensor attn = matmul(q, transpose(k, -2, -1)) * scale;  // [B, n_head, T, T]
  if (blocked.mask.defined()) attn = masked_fill(attn, blocked.mask, -std::numeric_limits<double>::infinity());
  const Tensor w = dropout(softmax(attn, -1));
  const Tensor ctx = matmul(w, v);  // [B, n_head, T, d_head]
  if (trace_shapes) *trace_to << "weights: " << size(w) << " ctx: " << size(ctx) << "\n";

  const Tensor out = proj(view(contiguous(transpose(ctx, 1, 2)), {B, T, D}));
  if (trace_shapes) *trace_to << "out: " << size(out) << "\n";
  return {out, w};
}

}  // namespace mote::tutorials::llm_from_scratch
