// Attention layers and blocks once more, from ops alone: head after head, each weight taken by its name.
#pragma once

#include <map>

#include "engine/ops/ops.h"
#include "nn/attention_weights.h"
#include "nn/multi_head_attention.h"
#include "nn/transformer_block.h"
#include "tests/check_module.h"

namespace mote::test {

/// A module's parameters under all their names.
using Parts = std::map<std::string, Tensor>;
inline Parts parts_of(const Module& m) {
  Parts parts;
  for (const NamedParameter& p : named_parameters(m, true)) parts.emplace(p.name, Tensor(p.parameter.value()));
  return parts;
}

inline Tensor linear_by_hand(const Parts& w, const std::string& name, const Tensor& x) {
  const auto bias = w.find(name + ".bias");
  return bias == w.end() ? linear(x, w.at(name + ".weight")) : linear(x, w.at(name + ".weight"), bias->second);
}

/// Joined heads [B, Tq, H dv] of q [B, Tq, H d], k [B, Tk, G d] and v [B, Tk, G dv]; `weights` receives [B, H, Tq, Tk].
inline Tensor heads_by_hand(const Tensor& q, const Tensor& k, const Tensor& v, Index H, Index G, AttentionOptions o,
                            const std::optional<RotaryOptions>& rotary, Array* weights = nullptr) {
  const Index d = q.size(2) / H, dv = v.size(2) / G;
  const Array slopes = o.alibi;
  std::vector<Tensor> heads, shown;
  for (Index h = 0; h < H; ++h) {
    const Index g = h / (H / G);
    Tensor query = unsqueeze(slice(q, 2, h * d, (h + 1) * d), 1), key = unsqueeze(slice(k, 2, g * d, (g + 1) * d), 1);
    const Tensor value = unsqueeze(slice(v, 2, g * dv, (g + 1) * dv), 1);
    if (rotary) {
      query = Rotary(d, *rotary)(query, 0);
      key = Rotary(d, *rotary)(key, 0);
    }
    if (slopes.defined()) o.alibi = copy_of(slopes.slice(0, h, h + 1));
    const AttentionWeights seen;
    heads.push_back(squeeze(attention(query, key, value, o), 1));
    shown.push_back(seen.maps().back().weights);
  }
  if (weights) *weights = concat(shown, 1).array();
  return concat(heads, 2);
}

/// A SelfAttention's weights under `name`: x [B, T, C] -> [B, T, C].
inline Tensor attention_by_hand(const Parts& w, const std::string& name, const Tensor& x, Index H, AttentionOptions o,
                                const SelfAttentionOptions& around, Array* weights = nullptr) {
  o.causal = o.causal.value_or(true);
  const Index C = x.size(2), G = around.n_kv_head ? around.n_kv_head : H, kv = C / H * G;
  const Tensor qkv = linear_by_hand(w, name + "c_attn", x);
  const Tensor q = slice(qkv, 2, 0, C), k = slice(qkv, 2, C, C + kv), v = slice(qkv, 2, C + kv, C + 2 * kv);
  const Tensor y = heads_by_hand(q, k, v, H, G, o, around.rotary, weights);
  return linear_by_hand(w, name + "c_proj", y);
}
/// A MultiHeadAttention's, of either kind of options.
template <class Around>
Tensor attention_by_hand(const Parts& w, const std::string& name, const Tensor& query, const Tensor& key,
                         const Tensor& value, Index H, const AttentionOptions& o, const Around& around,
                         Array* weights = nullptr) {
  const Tensor q = linear_by_hand(w, name + "q_proj", query), k = linear_by_hand(w, name + "k_proj", key),
               v = linear_by_hand(w, name + "v_proj", value);
  const Tensor y = heads_by_hand(q, k, v, H, around.n_kv_head ? around.n_kv_head : H, o, {}, weights);
  return linear_by_hand(w, name + "o_proj", y);
}

inline Tensor norm_by_hand(const Parts& w, const std::string& name, const Tensor& x, const TransformerBlockOptions& o) {
  const Tensor& gain = w.at(name + ".weight");
  if (o.norm == NormKind::rms_norm) return rms_norm(x, gain, o.norm_eps);
  const auto bias = w.find(name + ".bias");
  return layer_norm(x, gain, bias == w.end() ? Tensor() : bias->second, o.norm_eps);
}

/// A TransformerBlock's weights under `name`, whatever dropout it has: x [B, T, C] -> [B, T, C].
inline Tensor block_by_hand(const Parts& w, const std::string& name, const Tensor& x, Index H,
                            const TransformerBlockOptions& o, Array* weights = nullptr) {
  const auto norm = [&](const char* which, const Tensor& in) { return norm_by_hand(w, name + which, in, o); };
  const auto attn = [&](const Tensor& in) {
    AttentionOptions attention = o.attention;
    attention.dropout = {};
    return attention_by_hand(w, name + "attn.", in, H, attention, o.projections, weights);
  };
  const auto mlp = [&](const Tensor& in) {
    const Tensor inside = linear_by_hand(w, name + "mlp.c_fc", in);
    const bool gated = o.activation == Activation::swiglu;
    return linear_by_hand(
        w, name + "mlp.c_proj",
        gated ? silu(linear_by_hand(w, name + "mlp.c_gate", in)) * inside : activate(o.activation, inside));
  };
  if (o.norm_order == NormOrder::pre) {
    const Tensor y = x + attn(norm("ln_1", x));
    return o.feed_forward ? y + mlp(norm("ln_2", y)) : y;
  }
  const Tensor y = norm("ln_1", x + attn(x));
  return o.feed_forward ? norm("ln_2", y + mlp(y)) : y;
}

}  // namespace mote::test
