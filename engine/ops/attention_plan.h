// What one attention is to do: its sizes and switches, from its inputs and options, and where its arrays lie.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>

#include "engine/ops/attention.h"
#include "engine/ops/head_rows.h"
#include "engine/ops/softmax.h"

namespace mote::detail {

/// How q, k, v and the result hold their heads.
enum class HeadForm {
  axis,    ///< [..., H, T, d]
  none,    ///< [T, d]
  joined,  ///< [B, T, H d]
  packed   ///< the same, and q holds queries | keys | values
};

/// The sizes and switches of one attention: all that backward needs besides its arrays. H heads of queries, G = H /
/// kv_heads for each of k.
struct AttentionPlan {
  Index batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, width = 0, value_width = 0;
  real scale = 1, kept_scale = 1;  // kept_scale: 1 / (1 - dropout)
  Index window = 0;
  Index first_key = 0;  // the position of the first key: a cache with a window forgets those before it
  bool causal = false, drops = false, drops_all = false;
  bool guarded = false;        // see attention_guard.h
  bool keeps_weights = false;  // for backward, see attention_blocks.h
  HeadForm form = HeadForm::axis;

  Index group() const { return heads / kv_heads; }
  Index rows() const { return batch * heads * queries; }
  /// Positions count from the first key; query i has position i + shift().
  Index shift() const { return keys - queries; }
  /// Keys that query i's position lets it see: [first, end).
  Index first(Index i) const { return window > 0 ? std::max<Index>(0, i + shift() - window + 1) : 0; }
  Index end(Index i) const { return causal ? i + shift() + 1 : keys; }
  Index weight_row(Index b, Index h, Index i) const { return (b * heads + h) * queries + i; }
};
static_assert(std::is_trivially_copyable_v<AttentionPlan>);

/// A plan and pointers to its arrays, created for each pass: it owns none of them.
struct AttentionView : AttentionPlan {
  HeadRows q, k, v;
  std::optional<MaskRows> mask = {};   // rows of [B, H, Tq, Tk]
  const real* slopes = nullptr;        // alibi: [H]
  const std::uint8_t* bits = nullptr;  // dropout's choices for all weights, eight to a byte: 1 = kept

  bool sees(Index b, Index h, Index i, Index j) const {
    return j >= first(i) && j < end(i) && (!mask || mask->row(weight_row(b, h, i))[j]);
  }
};

/// q, k and v as their op got them, checked and with equal leading axes; k and v are not defined where q is packed.
struct AttentionInputs {
  Array q, k, v;
  AttentionPlan plan;  // with the sizes
  /// Of tensors with heads as an axis, or none. Errors: see attention().
  AttentionInputs(const Tensor& q, const Tensor& k, const Tensor& v);
  /// Of joined heads.
  AttentionInputs(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads);
  AttentionInputs(const Tensor& qkv, const Heads& heads);

  /// The plan for these options, with `cached` keys before those given. Errors: see attention().
  AttentionPlan with(const AttentionOptions& o, Index cached = 0) const;
  /// New keys and values as a cache takes them: [B, Hkv, T, d].
  Array keys() const;
  Array values() const;
};

/// The axes before heads, length and width.
Shape batch_of(const AttentionPlan& p, const Array& q);
/// [..., H, Tq, Tk], without H if there are no heads.
Shape weights_shape(const AttentionPlan& p, const Array& q);
/// Where everything lies. Errors: a mask that does not broadcast to the weights.
AttentionView view_of(const AttentionPlan& p, const Array& q, const Array& k, const Array& v, const Mask& mask,
                      const Array& slopes, const Storage& bits);
/// The queries as rows of heads.
HeadRows query_rows(const AttentionPlan& p, const Array& q);
/// A result or its gradient dy as rows of heads: [..., H, T, dv] or [B, T, H dv].
HeadRows result_rows(const AttentionPlan& p, const Array& y);

}  // namespace mote::detail
