// One forward or backward pass of attention: its plan, its arrays, its blocks of queries, and their working memory.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"

namespace mote::detail {

constexpr Index block_rows = 16;  // queries per block, one in each lane of the kernels

/// Queries [begin, end), at most 16, of head h of batch entry b, and the keys [lo, hi) that any of them sees.
struct Block {
  Index b, h, begin, end, lo, hi;
  Index rows() const { return end - begin; }
  Index keys() const { return hi - lo; }
};

/// The sizes and switches of one attention: all that backward needs besides the arrays.
struct AttentionPlan {
  Index batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, width = 0, value_width = 0;
  real scale = 1;       // factor of the products of queries and keys
  real kept_scale = 1;  // factor of a weight that dropout keeps: 1 / (1 - dropout)
  Index window = 0;
  Index first_key = 0;  // position of the first key, above 0 if a cache with a window has dropped keys
  bool causal = false;
  bool packed = false;  // queries, keys and values are side by side in one array, and so are their gradients

  Index group() const { return kv_heads > 0 ? heads / kv_heads : 1; }  // heads of queries that share one head of keys
  /// Positions count from the first key; query i has position i + shift().
  Index shift() const { return keys - queries; }
  /// Query i may see the keys [first(i), end(i)), unless the mask hides some of these keys.
  Index first(Index i) const { return window > 0 ? std::max<Index>(0, i + shift() - window + 1) : 0; }
  Index end(Index i) const { return causal ? i + shift() + 1 : keys; }
  Index weight_row(Index b, Index h, Index i) const { return (b * heads + h) * queries + i; }
  /// The block of queries [begin, end). The index of its first key is a multiple of 16, because sums over keys run in
  /// 16 lanes by absolute position.
  Block block(Index b, Index h, Index begin, Index end) const {
    return {b, h, begin, end, first(begin) / 16 * 16, this->end(end - 1)};
  }

  Index weights_size() const { return (queries + block_rows - 1) / block_rows * block_rows * keys; }
  /// Whether forward saves its weights for backward, which otherwise recomputes them. They are saved only if they take
  /// no more memory than q and k, so memory still grows with Tq + Tk. Backward must also cut the queries into the same
  /// blocks as forward. Without saved weights, a training step of a small model (S0 of examples/bench) would take 5 %
  /// longer.
  bool saves_weights() const {
    return queries > 1 && keys > 0 && (group() == 1 || queries % block_rows == 0) &&
           weights_size() <= (queries + keys) * width;
  }
  /// The number of elements that forward saves per head.
  Index saved_size() const { return saves_weights() ? weights_size() : 2 * queries; }
};

/// A non-owning view of an array [B, H, T, width]: a pointer and strides. The elements of a row are adjacent.
template <class T>
struct HeadView {
  T* data = nullptr;
  Index batch = 0, head = 0, row = 0;
  T* at(Index b, Index h, Index t) const { return data + b * batch + h * head + t * row; }
};

/// The sizes, switches and arrays of one forward or backward pass of attention.
struct AttentionPass : AttentionPlan {
  HeadView<const real> q, k, v;
  HeadView<const std::uint8_t> mask = {};  // [B, H, Tq, Tk], true = may attend; `data` is null without a mask
  const real* slopes = nullptr;            // alibi: [H]
  const std::uint8_t* bits = nullptr;      // dropout's choices for all weights, eight to a byte: 1 = kept
  bool guarded = false;                    // whether sums skip masked pairs one by one; masks_pairs() says why

  /// Whether a mask or a window may hide pairs of a query and a key. The fast sums leave out pairs that causality
  /// hides. But they multiply pairs that a mask or a window hides by a weight or gradient of 0, and 0 times NaN or
  /// infinity is NaN. So a pass that masks pairs first checks the rows that it will multiply. If any row is not finite,
  /// the pass is guarded: its sums skip masked pairs one by one, in the order of the fast sums. Queries that see only
  /// finite rows get the same bits either way.
  bool masks_pairs() const { return mask.data || window > 0; }
  bool sees(Index b, Index h, Index i, Index j) const {
    return j >= first(i) && j < end(i) && (!mask.data || mask.at(b, h, i)[j]);
  }
};

/// The results of a block that forward saves for backward: its weights, or the maximum and sum of each query's
/// softmax.
template <class T>
struct SavedBlock {
  T *weights = nullptr, *maxima = nullptr, *sums = nullptr;
  SavedBlock(const AttentionPlan& p, T* saved, const Block& at) {
    if (!saved) return;
    T* const head = saved + (at.b * p.heads + at.h) * p.saved_size();
    if (p.saves_weights()) {
      weights = head + at.begin * p.keys;
    } else {
      maxima = head + at.begin;
      sums = maxima + p.queries;
    }
  }
};

/// The working memory of one block. Values of pairs of a key and a query are stored key by key, with `lanes` queries
/// for each key. Pointers that the pass does not need are null.
struct BlockMemory {
  Index lanes;
  real *weights, *gradient, *dropout, *bias, *transposed, *keep_bytes;
  real* partial;  ///< sums of the gradients of one head of keys: [Tk, width + value_width]
  Storage storage;
  std::uint8_t* keep() const { return reinterpret_cast<std::uint8_t*>(keep_bytes); }

  BlockMemory(const AttentionPass& p, bool backward) : lanes(backward || p.queries > 1 ? block_rows : 1) {
    const Index pairs = lanes * p.keys;
    const std::pair<real**, Index> parts[] = {
        {&weights, pairs},
        {&gradient, backward ? pairs : 0},
        {&dropout, p.bits ? pairs : 0},
        {&bias, p.slopes ? p.keys + block_rows : 0},
        {&transposed, block_rows * std::max(p.width, p.value_width)},
        {&keep_bytes, p.masks_pairs() ? pairs / static_cast<Index>(sizeof(real)) + 1 : 0},
        {&partial, backward ? p.keys * (p.width + p.value_width) : 0}};
    const auto padded = [](Index size) { return (size + 15) / 16 * 16; };
    Index total = 0;
    for (const auto& [start, size] : parts) total += padded(size);
    storage = Storage(static_cast<std::size_t>(total) * sizeof(real));
    real* next = static_cast<real*>(storage.data());
    for (const auto& [start, size] : parts) {
      *start = size > 0 ? next : nullptr;
      next += padded(size);
    }
  }
};

/// The rough time of one block in nanoseconds, for grain_for(). `columns` is the number of columns of all its matrix
/// products together. Unused lanes cost as much as used lanes.
inline double block_time(const AttentionPlan& p, Index columns) {
  const double pairs = static_cast<double>(block_rows * p.keys) / (p.causal ? 2 : 1);
  return pairs * (0.015 * static_cast<double>(columns) + 0.5);
}

inline bool all_finite(const HeadView<const real>& x, Index batch, Index heads, Index length, Index width) {
  int other = 0;
  for (Index b = 0; b < batch; ++b)
    for (Index h = 0; h < heads; ++h)
      for (Index t = 0; t < length; ++t) {
        const real* const row = x.at(b, h, t);
        for (Index i = 0; i < width; ++i) other |= !(std::abs(row[i]) <= std::numeric_limits<real>::max());
      }
  return !other;
}

/// Returns the block in the form that the kernels take. The mask, the biases and the scaled dropout mask are written
/// to the memory m.
kernels::AttentionBlock prepare(const AttentionPass& p, const Block& at, const BlockMemory& m);
/// Returns the weights w times the scaled dropout mask `dropout`. The product is written over the mask. If `dropout`
/// is null, returns w.
const real* apply_dropout(const kernels::AttentionBlock& block, const real* w, real* dropout);
/// y = w x for the block's queries, with one row of x per key.
void sum_keys(const AttentionPass& p, const Block& at, kernels::AttentionBlock block, const real* w,
              const HeadView<const real>& x, Index width, real* y, Index y_row);

/// Computes y [B, H, Tq, dv] and, unless `saved` is null, fills saved [B, H, saved_size()] for backward.
void attention_forward(AttentionPass& p, const HeadView<real>& y, real* saved);

/// Computes the gradients of q, k and v. `data` is null for a gradient that is not wanted.
void attention_backward(AttentionPass& p, const HeadView<const real>& dy, const real* saved, const HeadView<real>& dq,
                        const HeadView<real>& dk, const HeadView<real>& dv);

}  // namespace mote::detail
