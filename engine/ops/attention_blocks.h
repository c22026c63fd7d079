// The data of one attention's loops: its plan, its arrays in memory, a block of query rows; and the two passes.
#pragma once

#include <algorithm>
#include <optional>
#include <type_traits>
#include <vector>

#include "engine/ops/head_rows.h"
#include "engine/ops/softmax.h"

namespace mote::detail {

/// The sizes and switches of one attention: all that backward needs besides its arrays. H heads of queries, G = H /
/// kv_heads for each of k.
struct AttentionPlan {
  Index batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, width = 0, value_width = 0;
  real scale = 1, kept_scale = 1;  // kept_scale: 1 / (1 - dropout)
  Index window = 0;
  bool causal = false, drops = false, drops_all = false;
  bool guarded = false;   // see attention_guard.h
  bool headless = false;  // none of q, k and v has heads, nor the result

  Index group() const { return heads / kv_heads; }
  Index rows() const { return batch * heads * queries; }
  /// Positions count from the first key; query i has position i + shift().
  Index shift() const { return keys - queries; }
  /// Keys that query i's position lets it see: [first, end).
  Index first(Index i) const { return window > 0 ? std::max<Index>(0, i + shift() - window + 1) : 0; }
  Index end(Index i) const { return causal ? i + shift() + 1 : keys; }
  Index weight_row(Index b, Index h, Index i) const { return (b * heads + h) * queries + i; }
  /// Number of distances from a query to a key; alibi has a bias for each.
  Index span() const { return keys + std::max(queries, keys); }
};
static_assert(std::is_trivially_copyable_v<AttentionPlan>);

/// A plan and pointers to its arrays, created for each pass: it owns none of them.
struct AttentionView : AttentionPlan {
  HeadRows q, k, v;
  std::optional<MaskRows> mask = {};   // rows of [B, H, Tq, Tk]
  const real* bias = nullptr;          // alibi: [H, span()], by the distance of key and query; see scores()
  const std::uint8_t* bits = nullptr;  // dropout's choices for all weights, eight to a byte: 1 = kept
};

/// Query rows per block: so many that a block of weights, 65,536 elements, stays in the second-level cache; whole tiles
/// of the product (14 rows or a divisor of 84); never fewer than one tile, even if the block is then larger. The number
/// changes no bit: a row's sums do not depend on other rows.
inline Index rows_at_once(const AttentionPlan& p) {
  constexpr Index elements = 65536, least = 14, most = 84;
  return std::clamp(elements / std::max<Index>(p.keys, 1), least, most);
}

/// One block of query rows [begin, end) of head h of batch entry b, and the keys [lo, hi) that any of them sees.
struct Block {
  Index b, h, begin, end, lo, hi;
  Block(const AttentionPlan& p, Index entry, Index head, Index first, Index last)
      : b(entry),
        h(head),
        begin(first),
        end(last),
        lo(p.first(first) / 16 * 16),  // sums over keys run in 16 lanes by absolute position
        hi(p.end(last - 1)) {}
  Index rows() const { return end - begin; }
  Index columns() const { return hi - lo; }
};

/// Memory that one task reuses for every block.
class Scratch {
 public:
  explicit Scratch(const AttentionPlan& p) : block_(rows_at_once(p) * p.keys), keys_(p.keys) {}
  real* weights() { return part(weights_); }
  real* dropped() { return part(dropped_); }
  real* gradient() { return part(gradient_); }
  std::uint8_t* keep() {
    if (!keep_) keep_ = Storage(static_cast<std::size_t>(keys_));
    return static_cast<std::uint8_t*>(keep_.data());
  }

 private:
  real* part(Storage& elements) {
    if (!elements) elements = Storage(static_cast<std::size_t>(block_) * sizeof(real));
    return static_cast<real*>(elements.data());
  }
  Index block_, keys_;
  Storage weights_, dropped_, gradient_, keep_;
};

/// The keys that one row of a block may see: the first `count`, and of these only where keep[j] if `keep` is given.
struct Seen {
  const std::uint8_t* keep;
  Index count;
};
inline Seen seen_by(const AttentionView& p, const Block& at, Index i, Scratch& scratch) {
  const Index first = p.first(i), end = p.end(i);
  if (!p.mask && first <= at.lo) return {nullptr, end - at.lo};
  std::uint8_t* const keep = scratch.keep();
  const std::uint8_t* const mask = p.mask ? p.mask->row(p.weight_row(at.b, at.h, i)) : nullptr;
  for (Index j = at.lo; j < at.hi; ++j) keep[j - at.lo] = j >= first && j < end && (!mask || mask[j]);
  return {keep, at.columns()};
}

/// y [B, Tq, H, dv], and stats [B, H, Tq, 2]: each row's maximum and sum, from which backward recomputes its weights.
/// stats, weights and dropped (both [B, H, Tq, Tk] of zeros) may be null.
void attention_forward(const AttentionView& p, real* y, real* stats, real* weights, real* dropped);

/// Gradients to fill: dq [B, Tq, H, d], dk [B, Tk, Hkv, d], dv [B, Tk, Hkv, dv], zeros before; null: not wanted.
struct AttentionGradients {
  real *dq, *dk, *dv;
};
void attention_backward(const AttentionView& p, const HeadRows& dy, const real* stats, const AttentionGradients& to);

}  // namespace mote::detail
