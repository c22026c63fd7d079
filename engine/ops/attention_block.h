// What both passes of attention do with one block of queries, and the memory that it takes.
#pragma once

#include "engine/base/storage.h"
#include "engine/ops/attention_blocks.h"

namespace mote::detail {

constexpr Index block_rows = 16;  // queries: the kernels' lanes

/// Where one block's values lie, key by key, 16 queries to a key; null what the plan does not need.
struct BlockMemory {
  real *weights, *gradient, *factors, *bias, *turned, *rows;
  std::uint8_t* keep;
};

/// That for several blocks at once, in one allocation.
class BlocksMemory {
 public:
  BlocksMemory(const AttentionView& p, bool backward, Index blocks) : blocks_(blocks) {
    const Index pairs = 16 * p.keys;
    Index elements = 0;
    const auto place = [&](bool needed, Index size) {
      const Index at = elements;
      if (!needed) return Index(-1);
      elements += (size + 15) / 16 * 16;
      return at;
    };
    weights_ = place(!p.keeps_weights, pairs);
    gradient_ = place(backward, pairs);
    factors_ = place(p.drops, pairs);
    bias_ = place(p.slopes != nullptr, p.keys + 31);
    turned_ = place(true, 16 * std::max(p.width, p.value_width));
    keep_ = place(p.mask || p.window > 0, pairs / static_cast<Index>(sizeof(real)) + 1);
    rows_ = place(backward, 16 * p.value_width);
    block_ = elements;
    apart_ = backward ? p.keys * (p.width + p.value_width) : 0;
    memory_ = Storage(static_cast<std::size_t>(blocks * elements + apart_) * sizeof(real));
  }
  Index blocks() const { return blocks_; }
  /// For backward: sums of one head of keys, [keys, width + value_width].
  real* apart() const { return static_cast<real*>(memory_.data()) + blocks_ * block_; }
  BlockMemory block(Index i) const {
    real* const data = static_cast<real*>(memory_.data()) + i * block_;
    const auto part = [&](Index at) { return at < 0 ? nullptr : data + at; };
    return {part(weights_),
            part(gradient_),
            part(factors_),
            part(bias_),
            part(turned_),
            part(rows_),
            reinterpret_cast<std::uint8_t*>(part(keep_))};
  }

 private:
  Index blocks_, block_, apart_, weights_, gradient_, factors_, bias_, turned_, keep_, rows_;
  Storage memory_;
};

/// About how many nanoseconds a block takes whose products have `columns` columns in all: for grain_for(). Lanes
/// without a query take as long as others.
inline double block_time(const AttentionPlan& p, Index columns) {
  const double pairs = static_cast<double>(block_rows * p.keys) / (p.causal ? 2 : 1);
  return pairs * (0.015 * static_cast<double>(columns) + 0.5);
}

/// The block for the kernels, with what its scores and weights need written to memory.
kernels::AttentionBlock prepare(const AttentionView& p, const Block& at, const BlockMemory& m);
/// Its queries and keys.
kernels::AttentionScores scores_of(const AttentionView& p, const Block& at, const BlockMemory& m);
/// The weights w after dropout, in place of its factors.
const real* dropped_weights(const AttentionView& p, const Block& at, const BlockMemory& m, const real* w);
/// y = w x, with a row of x per key: a sum over keys, cut into blocks by their positions.
void sum_keys(const AttentionView& p, const Block& at, kernels::AttentionBlock block, const real* w, const HeadRows& x,
              Index width, real* y, Index y_row, Index w_key = block_rows);

}  // namespace mote::detail
