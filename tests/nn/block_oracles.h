// A TransformerBlock with any of its options once more, in double and as plain loops.
#pragma once

#include "nn/transformer_block.h"
#include "tests/nn/attention_oracle.h"

namespace mote::test {

inline Row rms_norm_oracle(const Weights& w, const std::string& prefix, const Row& x, double eps) {
  const Row& weight = w.at(prefix + "weight").x;
  const std::size_t n = weight.size();
  Row y;
  for (std::size_t row = 0; row < x.size(); row += n) {
    double square = 0;
    for (std::size_t i = 0; i < n; ++i) square += x[row + i] * x[row + i];
    for (std::size_t i = 0; i < n; ++i)
      y.push_back(x[row + i] * weight[i] / std::sqrt(square / static_cast<double>(n) + eps));
  }
  return y;
}
inline Row norm_oracle(NormKind kind, const Weights& w, const std::string& prefix, const Row& x, double eps) {
  return kind == NormKind::layer_norm ? layer_norm_oracle(w, prefix, x, eps) : rms_norm_oracle(w, prefix, x, eps);
}

/// FeedForward with any Activation.
inline Row any_feed_forward_oracle(const Weights& w, const std::string& prefix, const Row& x, Activation activation) {
  const auto relu_of = [](double v) { return v > 0 ? v : 0; };
  const auto tanh_of = [](double v) { return std::tanh(v); };
  if (activation == Activation::gelu) return feed_forward_oracle(w, prefix, x, gelu_oracle);
  if (activation == Activation::gelu_tanh) return feed_forward_oracle(w, prefix, x, gelu_tanh_oracle);
  if (activation == Activation::relu) return feed_forward_oracle(w, prefix, x, relu_of);
  if (activation == Activation::silu) return feed_forward_oracle(w, prefix, x, silu_oracle);
  if (activation == Activation::tanh) return feed_forward_oracle(w, prefix, x, tanh_of);
  const Row gate = mapped(linear_oracle(w, prefix + "c_gate.", x), silu_oracle);  // swiglu
  Row y = linear_oracle(w, prefix + "c_fc.", x);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] *= gate[i];
  return linear_oracle(w, prefix + "c_proj.", y);
}

/// TransformerBlock: x [B, T, C] -> [B, T, C]. `weights` receives [B, H, T, T].
inline Row any_block_oracle(const Weights& w, const std::string& prefix, const Row& x, const Shape& shape, Index H,
                            const TransformerBlockOptions& o, Row* weights = nullptr) {
  const auto norm = [&](const char* name, const Row& in) {
    return norm_oracle(o.norm, w, prefix + name, in, o.norm_eps);
  };
  const MultiHeadAttentionOptions heads{.causal = o.causal,
                                        .fused = o.fused,
                                        .n_kv_head = o.n_kv_head,
                                        .window = o.window,
                                        .rotary = o.rotary,
                                        .alibi = o.alibi};
  const auto attn = [&](const Row& in) {
    return layer_oracle(w, prefix + "attn.", shape[2], H, heads, {in}, {shape[0], shape[1], shape[1]}, weights);
  };
  const auto mlp = [&](const Row& in) { return any_feed_forward_oracle(w, prefix + "mlp.", in, o.activation); };
  const bool first = o.order == NormOrder::pre;
  const Row y = first ? added(x, attn(norm("ln_1.", x))) : norm("ln_1.", added(x, attn(x)));
  if (!o.feed_forward) return y;
  return first ? added(y, mlp(norm("ln_2.", y))) : norm("ln_2.", added(y, mlp(y)));
}

/// A module's parameters under all their names.
inline Weights weights_of(const Module& m) {
  Weights w;
  for (const NamedParameter& p : named_parameters(m, true)) w.emplace(p.name, p.parameter.value());
  return w;
}

}  // namespace mote::test
