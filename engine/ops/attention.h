// Scaled dot-product attention as one op.
#pragma once

#include <optional>
#include <vector>

#include "engine/array/random.h"
#include "engine/autograd/op.h"
#include "engine/ops/masks.h"

namespace mote {

/// What attention can be told besides its inputs.
struct AttentionOptions {
  bool causal = false;                ///< a query sees only keys at its own position and before
  Mask mask = {};                     ///< true = may attend; broadcasts to [..., H, Tq, Tk]; combines with causal
  Index window = 0;                   ///< with causal: only the last `window` keys, its own included; 0: all
  std::optional<double> scale = {};   ///< what scores are multiplied by; not given: 1 / sqrt(d)
  Array alibi = {};                   ///< slopes [H]: slope * |distance in positions| is taken off each score
  double dropout = 0;                 ///< probability of dropping a weight (training only: the caller decides)
  const Generator* random = nullptr;  ///< the stream dropout draws from
  Array* weights = nullptr;           ///< receives the weights [..., H, Tq, Tk]; no bit of the output changes by it
  Array* dropped_weights = nullptr;   ///< the same after dropout
};

/// softmax(q k^T / sqrt(d)) v over the keys: q [..., H, Tq, d], k [..., Hkv, Tk, d], v [..., Hkv, Tk, dv] ->
/// [..., H, Tq, dv]; heads may be left out. With fewer heads in k and v (Hkv divides H), H / Hkv neighbouring heads of
/// q share each (grouped queries; one: multi-query). With more keys than queries the queries are the last ones.
///
/// A query that may attend to nothing gives zeros and zero gradients. Nothing crosses a masked pair, not even a NaN:
/// not from the key to the query's output, nor from the query to the key's gradient; so no token sees a later one.
/// Memory grows with Tq + Tk: weights are made a block of queries at a time, and again in backward; dropout keeps one
/// bit for each. Dropout draws as PyTorch does, one for every weight in row-major order, masked ones included. Equal in
/// every bit to the plain formula matmul(masked_softmax(matmul(q, transpose(k)) * scale), v) as long as all is finite;
/// only the gradient of what several heads or batch entries share is summed in another order.
///
/// Errors: widths of q and k, or lengths of k and v, that differ; heads that do not divide; leading axes or a mask that
/// do not broadcast; causal with fewer keys than queries; a window below 0 or without causal; slopes of another number
/// than H; a dropout that is no probability or has no generator. Source: Vaswani et al. 2017; in blocks: Dao et al.
/// 2022; grouped queries: Ainslie et al. 2023; alibi: Press et al. 2022.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});

namespace detail {
/// Rows of numbers in memory: row t of head h of batch entry b starts at data + batch[b] + h * head + t * row.
struct HeadRows {
  const real* data = nullptr;
  std::vector<Index> batch;
  Index head = 0, row = 0, column = 0;
  const real* at(Index b, Index h, Index t) const {
    return data + batch[static_cast<std::size_t>(b)] + h * head + t * row;
  }
};
/// The forward pass alone, for keys and values that lie in a cache: queries [B, H, Tq, d] as the last of `keys`
/// positions, of which the first stands at k.at(b, h, 0). Options as above, without dropout. -> [B, H, Tq, dv].
Array attend_cached(const Array& q, const HeadRows& k, const HeadRows& v, Index kv_heads, Index keys, Index value_width,
                    const AttentionOptions& options);
}  // namespace detail

}  // namespace mote
