// Attention's forward pass, one block of queries at a time, without the [Tq, Tk] matrix. Also the steps on one block
// that both passes share.
#include <algorithm>
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/ops/attention_pass.h"

namespace mote::detail {

/// The 16 bits from bit `at` on, in the low bits of the result. `bits` has `count` bits, and bits beyond these count
/// as 0.
static std::uint32_t sixteen_bits(const std::uint8_t* bits, Index at, Index count) {
  std::uint32_t word = 0;
  for (Index byte = at / 8; byte < at / 8 + 3 && byte * 8 < count; ++byte)
    word |= std::uint32_t(bits[byte]) << (byte - at / 8) * 8;
  return word >> at % 8;
}

kernels::AttentionBlock prepare(const AttentionPass& p, const Block& at, const BlockMemory& m) {
  const Index n = at.keys(), rows = at.rows(), lanes = m.lanes;
  if (p.masks_pairs()) {
    std::fill_n(m.keep(), rows < lanes ? n * lanes : 0, std::uint8_t(0));
    for (Index r = 0; r < rows; ++r) {
      const Index i = at.begin + r, first = p.first(i) - at.lo, end = p.end(i) - at.lo;
      const std::uint8_t* const mask = p.mask.data ? p.mask.at(at.b, at.h, i) + at.lo : nullptr;
      for (Index j = 0; j < n; ++j) m.keep()[j * lanes + r] = j >= first && j < end && (!mask || mask[j]);
    }
  }
  if (p.slopes) {  // bias[n - 1 + r - j] = -slope |distance| for query r and key j of the block's n keys
    const Index first = at.begin + p.shift() - at.lo - (n - 1);
    for (Index i = 0; i < n + lanes - 1; ++i) m.bias[i] = -p.slopes[at.h] * static_cast<real>(std::abs(first + i));
  }
  if (p.bits) {
    const Index weights = p.batch * p.heads * p.queries * p.keys;
    for (Index first = 0; first < n; first += 16) {
      std::uint32_t kept[block_rows] = {};  // each query's dropout bits for 16 keys, so that the loop over r vectorizes
      for (Index r = 0; r < rows; ++r)
        kept[r] = sixteen_bits(p.bits, p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo + first, weights);
      for (Index j = 0; j < std::min<Index>(16, n - first); ++j)
        for (Index r = 0; r < lanes; ++r)
          m.dropout[(first + j) * lanes + r] = static_cast<real>(static_cast<int>(kept[r] >> j & 1)) * p.kept_scale;
    }
  }
  const real *const q = p.q.at(at.b, at.h, at.begin), *const k = p.k.at(at.b, at.h / p.group(), at.lo);
  return {.rows = rows,
          .keys = n,
          .full = std::min(n, p.end(at.begin) - at.lo),
          .lanes = lanes,
          .keep = p.masks_pairs() ? m.keep() : nullptr,
          .products = {q, p.q.row, k, p.k.row, p.width},
          .scale = p.scale,
          .bias = p.slopes ? m.bias + n - 1 : nullptr,
          .transposed = m.transposed};
}

const real* apply_dropout(const kernels::AttentionBlock& block, const real* w, real* dropout) {
  if (!dropout) return w;
  kernels::table().mul(w, 1, dropout, 1, dropout, block.keys * block.lanes);
  return dropout;
}

/// Like sum_keys(), but skips masked pairs one by one.
static void guarded_sum_keys(const AttentionPass& p, const Block& at, Index lanes, const real* w,
                             const HeadView<const real>& x, Index width, real* y, Index y_row) {
  for (Index r = 0; r < at.rows(); ++r)
    for (Index c = 0; c < width; ++c) {
      real total = -real(0), sum = 0;  // total begins at -0, because -0 + x is x even for x = -0, but 0 + -0 is 0
      for (Index j = at.lo; j < at.hi; ++j) {
        if (j > at.lo && (p.first_key + j) % kernels::sum_block == 0) {
          total += sum;
          sum = 0;
        }
        if (!p.sees(at.b, at.h, at.begin + r, j)) continue;
        sum = std::fma(w[(j - at.lo) * lanes + r], x.at(at.b, at.h / p.group(), j)[c], sum);
      }
      y[r * y_row + c] = total + sum;
    }
}

/// Like every long sum, the sum over keys is cut into blocks of sum_block terms. A block begins where the position of
/// the key is a multiple of sum_block.
void sum_keys(const AttentionPass& p, const Block& at, kernels::AttentionBlock block, const real* w,
              const HeadView<const real>& x, Index width, real* y, Index y_row) {
  if (p.guarded) return guarded_sum_keys(p, at, block.lanes, w, x, width, y, y_row);
  const Index n = block.keys, full = block.full;
  Index from = 0;
  do {
    const Index position = p.first_key + at.lo + from;
    block.keys = std::min(n - from, kernels::sum_block - position % kernels::sum_block);
    block.full = full - from;
    const real* const rows = x.at(at.b, at.h / p.group(), at.lo + from);
    kernels::table().attention_sum_keys(block, {w + from * block.lanes, rows, x.row, width, y, y_row}, from > 0);
    from += block.keys;
  } while (from < n);
}

void attention_forward(AttentionPass& p, const HeadView<real>& y, real* saved) {
  p.guarded = p.masks_pairs() && !all_finite(p.v, p.batch, p.kv_heads, p.keys, p.value_width);
  const Index blocks = (p.queries + block_rows - 1) / block_rows, tasks = p.batch * p.heads * blocks;
  const double time = block_time(p, p.width + p.value_width);
  parallel_for(tasks, p.queries == 1 ? even_grain(tasks, time) : grain_for(time), [&](Index lo, Index hi) {
    const BlockMemory memory(p, false);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / blocks / p.heads, h = task / blocks % p.heads, begin = task % blocks * block_rows;
      const Block at = p.block(b, h, begin, std::min(begin + block_rows, p.queries));
      const SavedBlock<real> kept(p, saved, at);
      const kernels::AttentionBlock block = prepare(p, at, memory);
      real* const w = kept.weights ? kept.weights : memory.weights;
      kernels::table().attention_weights(block, w, kept.maxima, kept.sums);
      sum_keys(p, at, block, apply_dropout(block, w, memory.dropout), p.v, p.value_width, y.at(b, h, begin), y.row);
    }
  });
}

}  // namespace mote::detail
