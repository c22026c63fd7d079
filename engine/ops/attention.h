// Scaled dot-product attention as one op. engine/ops/attention_plain.h writes the formula of attention in a few lines
// of separate ops. The single op gives the same bits in less time, and without memory for all weights.
#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <limits>
#include <optional>

#include "engine/array/random.h"
#include "engine/autograd/op.h"
#include "engine/ops/masks.h"

namespace mote {

class KeyValueCache;

/// The options of attention. Layers and models contain this struct and pass it on as a whole. The enclosing layer
/// chooses the value of an option that is not given. Without an enclosing layer, attention is not causal and drops
/// nothing by default.
struct AttentionOptions {
  std::optional<bool> causal = {};     ///< a query sees only keys at its own position and before
  Mask mask = {};                      ///< true = may attend; broadcasts to [..., H, Tq, Tk]; combines with causal
  Index window = 0;                    ///< with causal: a query sees the last `window` keys, its own included; 0: all
  std::optional<double> scale = {};    ///< factor of the scores; not given: 1 / sqrt(d)
  Array alibi = {};                    ///< slopes [H]: subtracts slope * |distance in positions| from each score
  std::optional<double> dropout = {};  ///< probability of dropping a weight; layers drop in training only

  /// Checks the options. The error message begins with the name of the op that is running, or with `who` if none is.
  /// Errors: a window below 0 or without causal, a scale that is not finite, a dropout that is not a probability.
  void require(const char* who) const {
    check_in(who, !scale || std::abs(*scale) <= static_cast<double>(std::numeric_limits<real>::max()), "scale ",
             scale.value_or(0), " must be finite");
    check_in(who, window >= 0, "window ", window, " must be at least 0");
    check_in(who, window == 0 || causal.value_or(false), "window ", window, " needs causal = true");
    check_in(who, !dropout || (*dropout >= 0 && *dropout <= 1), "dropout = ", dropout.value_or(0),
             " is not a probability");
  }
  /// The factor of the scores for queries of this width.
  real scale_for(Index width) const {
    const real usual = real(1) / std::sqrt(static_cast<real>(std::max<Index>(width, 1)));
    return scale ? static_cast<real>(*scale) : usual;
  }
};

/// The numbers of heads that lie side by side in the last axis: heads of queries, and heads of keys and values.
struct Heads {
  Index queries = 1;
  Index keys = queries;
};

/// softmax(q k^T / sqrt(d)) v over the keys: q [..., H, Tq, d], k [..., Hkv, Tk, d], v [..., Hkv, Tk, dv] ->
/// [..., H, Tq, dv]. The axis of heads may be left out. If k and v have fewer heads than q (Hkv divides H), H / Hkv
/// neighbouring heads of q share each head of k and v. This is grouped-query attention, or multi-query attention if
/// Hkv = 1. With more keys than queries, the queries are the last positions.
///
/// A query that may attend to nothing gives zeros and zero gradients. If a query may not attend to a key, the query's
/// output does not depend on the key, and the key's gradient does not depend on the query. This holds even if the
/// query or the key contains NaN. So with causal no token sees a later one. Memory grows with Tq + Tk, because
/// weights are computed for one block of queries at a time. They are recomputed in backward if saving them would take
/// more memory than q and k. Dropout saves one bit per weight. It draws from `random` as PyTorch does, once per
/// weight in row-major order, also for masked weights. The result is equal in every bit to plain_attention() if all
/// values are finite.
///
/// Observers can see four values. "scores" [B, H, Tq, Tk] are the scores before masks. "weights" and
/// "dropped_weights" have the same shape and are the weights before and after dropout. "heads" [B, H, Tq, dv] is the
/// output of each head, before a layer's output projection. B is the product of all axes before heads. If an observer
/// changes a value, plain_attention() runs instead of this op.
///
/// Errors: widths of q and k, or lengths of k and v, that differ. A number of heads of q that Hkv does not divide.
/// Leading axes or a mask that do not broadcast. causal with fewer keys than queries. A window below 0 or without
/// causal. Slopes whose number is not H. A dropout that is not a probability, or without `random`. Source: Vaswani et
/// al. 2017; in blocks: Dao et al. 2022; grouped queries: Ainslie et al. 2023; alibi: Press et al. 2022.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});
/// Attention with dropout or with a cache. With a cache, q, k and v belong to the t tokens that follow the cached
/// tokens, and k and v are appended to the cache: q [B, H, t, d], k [B, Hkv, t, d], v [B, Hkv, t, dv] ->
/// [B, H, t, dv]. engine/ops/kv_cache.h says why the result is equal in every bit to the last t rows of the full
/// pass. Errors with a cache: not causal, a mask, a dropout, gradients on, a window that differs from the cache's
/// window, sizes that differ from those of the cached rows. An error leaves the cache unchanged.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                 const Generator& random, KeyValueCache* cache = nullptr);
/// Attention over heads that lie side by side, as a layer's projections leave them: q [B, Tq, H d], k [B, Tk, Hkv d],
/// v [B, Tk, Hkv dv] -> [B, Tq, H dv]. It equals attention() of the split_heads() of q, k and v, followed by
/// join_heads(). Errors: a width that the number of heads does not divide.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads, const AttentionOptions& options,
                 const Generator& random, KeyValueCache* cache = nullptr);
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads,
                 const AttentionOptions& options = {});
/// Attention of queries, keys and values that come side by side from one projection: qkv [B, T, H d + 2 Hkv d] ->
/// [B, T, H d].
Tensor attention(const Tensor& qkv, const Heads& heads, const AttentionOptions& options, const Generator& random,
                 KeyValueCache* cache = nullptr);

template <std::same_as<bool> B>
__attribute__((unavailable("write attention(q, k, v, {.causal = true})"))) Tensor attention(const Tensor& q,
                                                                                            const Tensor& k,
                                                                                            const Tensor& v, B causal);
template <class M>
requires(std::same_as<M, Tensor> || std::same_as<M, Mask>) __attribute__((unavailable(
    "write {.mask = m}; of 0 and 1 m > 0, or from_blocked(m) where 1 means blocked; of 0 and -infinity m == 0"))) Tensor
    attention(const Tensor& q, const Tensor& k, const Tensor& v, const M& mask);

}  // namespace mote
