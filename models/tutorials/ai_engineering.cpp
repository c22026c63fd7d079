// The forward passes of "AI engineering from scratch", lesson 33, and what the lesson prints about weights.
#include "models/tutorials/ai_engineering.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <vector>

#include "engine/base/number_text.h"
#include "engine/ops/arithmetic.h"
#include "engine/ops/compare.h"
#include "engine/ops/softmax.h"
#include "engine/ops/view.h"
#include "nn/heads.h"

namespace mote::tutorials::ai_engineering {

MultiHeadSelfAttention::MultiHeadSelfAttention(Integer width, Integer heads, Integer longest, const Generator& random,
                                               Real attn_p, Real out_p)
    : d_model(width),
      n_heads(checked_heads("MultiHeadSelfAttention", width, heads, 0, 0, {})),
      d_head(width / heads),
      max_context_length(longest),
      qkv_proj(width, 3 * width, random),
      out_proj(width, width, random),
      attn_dropout(attn_p, random),
      out_dropout(out_p, random) {
  check_in("MultiHeadSelfAttention", longest >= 1, "max_context_length ", longest, " must be at least 1");
  causal_mask = tril(Array::full({longest, longest}, 1)).array();
}

std::pair<Tensor, Tensor> MultiHeadSelfAttention::forward(const Tensor& x, ReturnWeights) const {
  check_in("MultiHeadSelfAttention", x.dim() == 3 && x.size(2) == d_model, "x ", x.shape(), " must be [B, T, ", d_model,
           "]");
  const Index T = x.size(1);
  check_in("MultiHeadSelfAttention", T <= max_context_length, "the length T = ", T, " is above max_context_length ",
           max_context_length);
  const std::vector<Tensor> parts = chunk(qkv_proj(x), 3, -1);  // [B, T, d_model] each
  const Tensor q = split_heads(parts[0], n_heads);              // [B, n_heads, T, d_head]
  const Tensor k = split_heads(parts[1], n_heads);
  const Tensor v = split_heads(parts[2], n_heads);
  const Tensor scores = matmul(q, transpose(k, -2, -1)) / std::sqrt(static_cast<real>(d_head));
  const Mask blocked = Tensor(causal_mask.slice(0, 0, T).slice(1, 0, T)) == Tensor(0);
  const Tensor masked = masked_fill(scores, blocked, -std::numeric_limits<double>::infinity());
  const Tensor weights = attn_dropout(softmax(masked, -1));
  return {out_dropout(out_proj(join_heads(matmul(weights, v)))), weights};
}

namespace {
/// Makes an Embedding with weights from N(0, 0.02), which replace the weights from N(0, 1) that its constructor draws.
Embedding small_embedding(Index vocab_size, Index d_model, const Generator& random) {
  Embedding table(vocab_size, d_model, random);
  init::normal(table.weight, 0, 0.02, random);
  return table;
}
}  // namespace

TinyAttentionLM::TinyAttentionLM(Integer vocab_size, Integer d_model, Integer n_heads, Integer max_context_length,
                                 const Generator& random)
    : token_emb(small_embedding(vocab_size, d_model, random)),
      pos_emb(max_context_length, d_model),
      attn(d_model, n_heads, max_context_length, random),
      lm_head(d_model, vocab_size, random) {}

std::pair<Tensor, Tensor> TinyAttentionLM::forward(const IntArray& ids, ReturnWeights) const {
  check_in("TinyAttentionLM", ids.rank() == 2, "ids ", ids.shape(), " must be [B, T]");
  const Tensor tokens = token_emb(ids);
  const Tensor x = tokens + pos_emb(ids.shape()[1]);
  const auto [attn_out, weights] = attn(x, return_weights);
  return {lm_head(attn_out), weights};
}

Causality causality(const Array& weights) {
  const Shape& shape = weights.shape();
  check_in("causality", weights.rank() >= 2 && shape[-1] == shape[-2] && weights.numel() > 0, "weights ", shape,
           " must be [..., T, T] and not empty");
  const Index T = shape[-1];
  const Array all = weights.contiguous();
  constexpr double infinity = std::numeric_limits<double>::infinity();
  Causality c{0, infinity, -infinity};
  for (Index square = 0; square < all.numel() / (T * T); ++square) {
    double future = 0;
    for (Index i = 0; i < T; ++i) {
      const real* const row = all.data() + (square * T + i) * T;
      double sum = 0;
      for (Index j = 0; j < T; ++j) {
        sum += static_cast<double>(row[j]);
        if (j > i) future += std::abs(static_cast<double>(row[j]));
      }
      c.smallest_row = std::min(c.smallest_row, sum);
      c.largest_row = std::max(c.largest_row, sum);
    }
    c.future = std::max(c.future, future);
  }
  return c;
}

std::string causality_text(const Array& weights) {
  const Causality c = causality(weights);
  return "weights shape          : " + text_of(weights.shape()) +
         "\nsum over future cells  : " + fixed_text(c.future, 6) +
         "\nrow sums               : min=" + fixed_text(c.smallest_row, 4) + ", max=" + fixed_text(c.largest_row, 4) +
         "\n";
}

std::string heatmap(const Array& weights) {
  check_in("heatmap", weights.rank() == 2, "weights ", weights.shape(), " must be [Tq, Tk]");
  constexpr std::string_view glyphs = " .:-=+*#%@";
  std::string text;
  for (Index i = 0; i < weights.shape()[0]; ++i) {
    const std::string number = std::to_string(i);
    text += "  q=" + std::string(number.size() < 2 ? 1 : 0, ' ') + number + ": |";
    for (Index j = 0; j < weights.shape()[1]; ++j) {
      const double w = static_cast<double>(weights.at({i, j}));
      text += glyphs[w > 0 ? static_cast<std::size_t>(std::min(w * 10, 9.0)) : 0];  // NaN gives ' '
    }
    text += "|\n";
  }
  return text;
}

}  // namespace mote::tutorials::ai_engineering
