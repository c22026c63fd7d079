// Plan, all that the loops of one attention must know, and the loops' declarations.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "engine/ops/attention.h"
#include "engine/ops/softmax.h"

namespace mote::detail {

/// Where the numbers of one attention lie, and what it was told. H heads of queries, G = H / kv_heads to each of k.
struct Plan {
  Index batch = 1, heads = 1, kv_heads = 1, queries = 0, keys = 0, width = 0, value_width = 0;
  HeadRows q, k, v;
  real scale = 1;
  bool causal = false;
  Index window = 0;
  std::optional<MaskRows> mask;  // rows [B, H, Tq, Tk]
  Array bias;                    // alibi: [H, Tk + max(Tq, Tk)], by the distance of key and query; see scores()
  std::vector<std::uint8_t, CachedAllocator<std::uint8_t>> bits;  // dropout: 1 = kept, one bit per weight
  real kept_scale = 1;                                            // 1 / (1 - p)
  bool drops = false, drops_all = false;
  bool guarded = false;  // something masked may not be finite: never multiply by it, not even by 0

  Index group() const { return heads / kv_heads; }
  /// Positions count from the first key; query i stands at i + shift().
  Index shift() const { return keys - queries; }
  /// Keys that query i may see for its position: [first, end).
  Index first(Index i) const { return window > 0 ? std::max<Index>(0, i + shift() - window + 1) : 0; }
  Index end(Index i) const { return causal ? i + shift() + 1 : keys; }
  Index weight_row(Index b, Index h, Index i) const { return (b * heads + h) * queries + i; }
};

/// Query rows taken at once: so many that a block of weights, 65,536 numbers, stays in the second-level cache; whole
/// tiles of the product (14 rows or a divisor of 84); never fewer than one tile, even if the block is then larger. The
/// number shows in no bit: a row's sums do not know of the other rows.
inline Index rows_at_once(const Plan& p) {
  constexpr Index numbers = 65536, least = 14, most = 84;
  return std::clamp(numbers / std::max<Index>(p.keys, 1), least, most);
}

/// One block of query rows [begin, end) of head h of batch entry b, and the keys [lo, hi) that any of them sees.
struct Block {
  Index b, h, begin, end, lo, hi;
  Index rows() const { return end - begin; }
  Index columns() const { return hi - lo; }
};
inline Block block_of(const Plan& p, Index b, Index h, Index begin, Index end) {
  // Sums over keys run in 16 lanes by absolute position, so a block starts at a multiple of 16.
  return {b, h, begin, end, p.first(begin) / 16 * 16, p.end(end - 1)};
}

/// y [B, Tq, H, dv], and stats [B, H, Tq, 2]: each row's maximum and sum, from which backward finds its weights again.
/// stats, weights and dropped (both [B, H, Tq, Tk] of zeros) may be null.
void attention_forward(const Plan& p, real* y, real* stats, real* weights, real* dropped);

/// Where the gradients go: dq [B, Tq, H, d], dk [B, Tk, Hkv, d], dv [B, Tk, Hkv, dv], all zeros before; each null when
/// nobody wants it.
struct Gradients {
  real *dq, *dk, *dv;
};
void attention_backward(const Plan& p, const HeadRows& dy, const real* stats, const Gradients& to);

}  // namespace mote::detail
