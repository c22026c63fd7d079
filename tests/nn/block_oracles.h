// What is here: a TransformerBlock with any of its options once more, in double and as plain loops.
// What is not: the plainer oracles of single layers (oracles.h), a whole model (../models/gpt_oracle.h).
// Read next: transformer_block_kinds_test.cpp.
#pragma once

#include <complex>

#include "nn/transformer_block.h"
#include "tests/nn/oracles.h"

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

/// A head's row of one token, turned: columns i and i + half are a complex number times e^(i angle).
inline Row turned_oracle(Row x, Index position, const RotaryOptions& o) {
  const Index half = static_cast<Index>(std::floor(o.fraction * static_cast<double>(x.size()) / 2));
  for (Index i = 0; i < half; ++i) {
    const double angle =
        static_cast<double>(position) / std::pow(o.base, static_cast<double>(i) / static_cast<double>(half));
    const std::complex<double> turned =
        std::complex<double>(x[at(i)], x[at(i + half)]) * std::exp(std::complex<double>(0, angle));
    x[at(i)] = turned.real(), x[at(i + half)] = turned.imag();
  }
  return x;
}

/// ALiBi's slopes as the paper's own program makes them: a geometric row, or two of them woven together.
inline Row slopes_oracle(Index heads) {
  const double log2 = std::log2(static_cast<double>(heads));
  Row slopes;
  if (log2 == std::floor(log2)) {
    const double start = std::pow(2.0, -std::pow(2.0, -(log2 - 3)));
    for (Index h = 0; h < heads; ++h) slopes.push_back(std::pow(start, static_cast<double>(h + 1)));
    return slopes;
  }
  const Index closest = Index(1) << static_cast<int>(std::floor(log2));
  slopes = slopes_oracle(closest);
  const Row finer = slopes_oracle(2 * closest);
  for (Index h = 0; h < heads - closest; ++h) slopes.push_back(finer[at(2 * h)]);
  return slopes;
}

/// The fused MultiHeadAttention inside a block: x [B, T, C] -> [B, T, C]; `weights` receives [B, H, T, T].
inline Row any_attention_oracle(const Weights& w, const std::string& prefix, const Row& x, const Shape& shape, Index H,
                                const TransformerBlockOptions& o, Row* weights = nullptr) {
  const Index B = shape[0], T = shape[1], C = shape[2], D = C / H, K = o.n_kv_head ? o.n_kv_head : H;
  const Row qkv = linear_oracle(w, prefix + "c_attn.", x), slopes = slopes_oracle(H);
  const auto part = [&](Index from, Index b, Index head, Index t) {
    const auto first = qkv.begin() + (b * T + t) * (C + 2 * K * D) + from + head * D;
    return Row(first, first + D);
  };
  const auto turn = [&](const Row& r, Index t) { return o.rotary ? turned_oracle(r, t, *o.rotary) : r; };
  Row joined(x.size(), 0);
  for (Index b = 0; b < B; ++b)
    for (Index h = 0; h < H; ++h)
      for (Index i = 0; i < T; ++i) {
        const Index shared = h / (H / K);
        const Row q = turn(part(0, b, h, i), i);
        Row p(at(T), 0);
        double total = 0;
        for (Index j = 0; j < T; ++j) {
          if ((o.causal && j > i) || (o.window > 0 && i - j >= o.window)) continue;
          const Row k = turn(part(C, b, shared, j), j);
          double score = 0;
          for (std::size_t d = 0; d < q.size(); ++d) score += q[d] * k[d];
          score /= std::sqrt(static_cast<double>(D));
          if (o.alibi) score -= slopes[at(h)] * static_cast<double>(std::abs(i - j));
          p[at(j)] = std::exp(score);
          total += p[at(j)];
        }
        for (Index j = 0; j < T; ++j) {
          p[at(j)] /= total;
          const Row v = part(C + K * D, b, shared, j);
          for (Index d = 0; d < D; ++d) joined[at((b * T + i) * C + h * D + d)] += p[at(j)] * v[at(d)];
        }
        if (weights) weights->insert(weights->end(), p.begin(), p.end());
      }
  return linear_oracle(w, prefix + "c_proj.", joined);
}

/// TransformerBlock: x [B, T, C] -> [B, T, C].
inline Row any_block_oracle(const Weights& w, const std::string& prefix, const Row& x, const Shape& shape, Index H,
                            const TransformerBlockOptions& o, Row* weights = nullptr) {
  const auto norm = [&](const char* name, const Row& in) {
    return norm_oracle(o.norm, w, prefix + name, in, o.norm_eps);
  };
  const auto attn = [&](const Row& in) { return any_attention_oracle(w, prefix + "attn.", in, shape, H, o, weights); };
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
