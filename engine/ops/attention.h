// Scaled dot-product attention as one op. The formula that it computes stands in engine/ops/attention_plain.h, in a few
// lines of other ops. This op gives the same bits in less time and without memory for all weights.
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

/// The options of attention. Layers and models contain one and pass it on whole. An option that is not given follows
/// the enclosing layer. Where there is no enclosing layer, attention is not causal and drops nothing.
struct AttentionOptions {
  std::optional<bool> causal = {};     ///< a query sees only keys at its own position and before
  Mask mask = {};                      ///< true = may attend; broadcasts to [..., H, Tq, Tk]; combines with causal
  Index window = 0;                    ///< with causal: only the last `window` keys, its own included; 0: all
  std::optional<double> scale = {};    ///< factor of the scores; not given: 1 / sqrt(d)
  Array alibi = {};                    ///< slopes [H]: subtracts slope * |distance in positions| from each score
  std::optional<double> dropout = {};  ///< probability of dropping a weight; layers drop in training only

  /// Errors, in the name of `who` outside an op: a window below 0 or without causal, a scale that is not finite, a
  /// dropout that is not a probability.
  void require(const char* who) const {
    check_in(who, !scale || std::abs(*scale) <= static_cast<double>(std::numeric_limits<real>::max()), "scale ",
             scale.value_or(0), " is not finite");
    check_in(who, window >= 0, "window ", window, " must be at least 0");
    check_in(who, window == 0 || causal.value_or(false), "a window of recent keys needs causal");
    check_in(who, !dropout || (*dropout >= 0 && *dropout <= 1), "dropout = ", dropout.value_or(0),
             " is not a probability");
  }
  /// The factor of the scores for queries of this width.
  real scale_for(Index width) const {
    const real usual = real(1) / std::sqrt(static_cast<real>(std::max<Index>(width, 1)));
    return scale ? static_cast<real>(*scale) : usual;
  }
};

/// Heads that lie side by side in the last axis: of queries, and of keys and values.
struct Heads {
  Index queries = 1;
  Index keys = queries;
};

/// softmax(q k^T / sqrt(d)) v over the keys: q [..., H, Tq, d], k [..., Hkv, Tk, d], v [..., Hkv, Tk, dv] ->
/// [..., H, Tq, dv]; heads may be left out. With fewer heads in k and v (Hkv divides H), H / Hkv neighbouring heads of
/// q share each (grouped-query; Hkv = 1: multi-query). With more keys than queries, the queries are the last positions.
///
/// A query that may attend to nothing gives zeros and zero gradients. Nothing crosses a masked pair, not even a NaN:
/// neither from the key to the query's output nor from the query to the key's gradient. So no token sees a later one.
/// Memory grows with Tq + Tk. Weights are computed one block of queries at a time. They are recomputed in backward if
/// saving them would take more than q and k. Dropout saves one bit per weight. Dropout draws from `random` as PyTorch
/// does, once per weight in row-major order, masked ones included. Equal in every bit to plain_attention() if all
/// values are finite.
///
/// Observers can see four values. "scores" are those before masks, [B, H, Tq, Tk]. "weights" and "dropped_weights" have
/// the same shape; the second are those after dropout. "heads" is what each head gives to a layer's output projection,
/// [B, H, Tq, dv]. B is the product of all axes before heads. If an observer changes a value, the formula runs in place
/// of this op.
///
/// Errors: widths of q and k, or lengths of k and v, that differ. Heads that do not divide. Leading axes or a mask that
/// do not broadcast. causal with fewer keys than queries. A window below 0 or without causal. Slopes whose number is
/// not H. A dropout that is not a probability, or without `random`. Source: Vaswani et al. 2017; in blocks: Dao et al.
/// 2022; grouped queries: Ainslie et al. 2023; alibi: Press et al. 2022.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options = {});
/// With a cache it is for the t tokens that follow those in it. Their keys and values are appended: q [B, H, t, d], k
/// [B, Hkv, t, d], v [B, Hkv, t, dv] -> [B, H, t, dv]. engine/ops/kv_cache.h says why it is equal in every bit to the
/// last t rows of the full pass. Errors: not causal, a mask, a dropout, gradients on, a window that differs from the
/// cache's, rows that do not continue the cache's. An error leaves the cache unchanged.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const AttentionOptions& options,
                 const Generator& random, KeyValueCache* cache = nullptr);
/// The same over heads as a layer's projections leave them, side by side: q [B, Tq, H d], k [B, Tk, Hkv d], v [B, Tk,
/// Hkv dv] -> [B, Tq, H dv]. It is join_heads() of attention() over split_heads() of each. Errors: a width that the
/// heads do not divide.
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads, const AttentionOptions& options,
                 const Generator& random, KeyValueCache* cache = nullptr);
Tensor attention(const Tensor& q, const Tensor& k, const Tensor& v, const Heads& heads,
                 const AttentionOptions& options = {});
/// The same with all three from one projection: qkv [B, T, queries | keys | values] -> [B, T, H d].
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
