// One block of attention: what the kernels need to know, dropout, and sums over its keys.
#include "engine/ops/attention_block.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/gemm.h"
#include "engine/ops/attention_guard.h"

namespace mote::detail {

kernels::AttentionBlock prepare(const AttentionView& p, const Block& at, const BlockMemory& m) {
  const Index n = at.columns(), rows = at.rows();
  kernels::AttentionBlock block{rows, n, std::min(n, p.end(at.begin) - at.lo), nullptr};
  if (p.mask || p.window > 0) {
    std::fill_n(m.keep, rows < block_rows ? n * block_rows : 0, std::uint8_t(0));
    for (Index r = 0; r < rows; ++r) {
      const Index i = at.begin + r, first = p.first(i) - at.lo, end = p.end(i) - at.lo;
      const std::uint8_t* const mask = p.mask ? p.mask->row(p.weight_row(at.b, at.h, i)) + at.lo : nullptr;
      for (Index j = 0; j < n; ++j) m.keep[j * block_rows + r] = j >= first && j < end && (!mask || mask[j]);
    }
    block.keep = m.keep;
  }
  if (p.slopes) {  // -slope |distance| of query r and key j, at [r - j]
    const Index first = at.begin + p.shift() - at.lo - (n - 1);
    for (Index i = 0; i < n + block_rows; ++i) m.bias[i] = -p.slopes[at.h] * static_cast<real>(std::abs(first + i));
  }
  if (p.drops) {
    std::fill_n(m.factors, n * block_rows, real(0));
    for (Index r = 0; r < rows && !p.drops_all; ++r) {
      const Index bit = p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo;
      for (Index j = 0; j < n; ++j)
        m.factors[j * block_rows + r] = p.bits[(bit + j) / 8] >> ((bit + j) % 8) & 1 ? p.kept_scale : real(0);
    }
  }
  return block;
}

kernels::AttentionScores scores_of(const AttentionView& p, const Block& at, const BlockMemory& m) {
  return {p.q.at(at.b, at.h, at.begin),
          p.q.row,
          p.k.at(at.b, at.h / p.group(), at.lo),
          p.k.row,
          p.width,
          p.scale,
          p.slopes ? m.bias + at.columns() - 1 : nullptr,
          m.turned};
}

const real* dropped_weights(const AttentionView& p, const Block& at, const BlockMemory& m, const real* w) {
  if (!p.drops) return w;
  kernels::table().mul(w, 1, m.factors, 1, m.factors, at.columns() * block_rows);
  return m.factors;
}

void sum_keys(const AttentionView& p, const Block& at, kernels::AttentionBlock block, const real* w, const HeadRows& x,
              Index width, real* y, Index y_row, Index w_key) {
  if (p.guarded) return guarded_sum_keys(p, at, w, x, width, y, y_row);
  const Index n = block.keys, full = block.full;
  Index from = 0;
  do {
    const Index position = p.first_key + at.lo + from;
    block.keys = std::min(n - from, kernels::sum_block - position % kernels::sum_block);
    block.full = full - from;
    kernels::table().attention_sum_keys(
        block, {w + from * w_key, w_key, x.at(at.b, at.h / p.group(), at.lo + from), x.row, width, y, y_row}, from > 0);
    from += block.keys;
  } while (from < n);
}

}  // namespace mote::detail
