// Attention's forward pass without the [Tq, Tk] matrix: block of queries by block.
#include <cmath>

#include "engine/base/parallel.h"
#include "engine/ops/attention_block.h"

namespace mote::detail {
namespace {

/// Copies the block's weights to their places in an array [B, H, Tq, Tk] of zeros.
void copy_block(const AttentionView& p, const Block& at, const real* w, real* all) {
  for (Index r = 0; r < at.rows(); ++r)
    for (Index j = 0; j < at.columns(); ++j)
      all[p.weight_row(at.b, at.h, at.begin + r) * p.keys + at.lo + j] = w[j * block_rows + r];
}

/// A single query, as in generation: lanes are keys.
void one_query(const AttentionView& p, const Block& at, const Kept<real>& kept, const BlockMemory& m, real* y) {
  const Index n = at.columns();
  real* const w = m.weights;
  kernels::table().attention_scores_of_one(scores_of(p, at, m), n, w);
  const Index position = at.begin + p.shift() - at.lo;
  for (Index j = 0; p.slopes && j < n; ++j) w[j] = w[j] + -p.slopes[at.h] * static_cast<real>(std::abs(position - j));
  const bool hides = p.mask || p.window > 0;
  for (Index j = 0; hides && j < n; ++j) m.keep[j] = p.sees(at.b, at.h, at.begin, at.lo + j);
  real row[2];
  kernels::table().softmax(w, hides ? m.keep : nullptr, w, row, n);
  if (kept.maxima) *kept.maxima = row[0], *kept.sums = row[1];
  sum_keys(p, at, {1, n, n, nullptr}, w, p.v, p.value_width, y, p.value_width, 1);
}

}  // namespace

void attention_forward(const AttentionView& p, real* y, real* kept, real* weights, real* dropped) {
  const Index blocks = (p.queries + block_rows - 1) / block_rows;
  const Index tasks = p.batch * p.heads * blocks;
  const double time = block_time(p, p.width + p.value_width);
  parallel_for(tasks, p.queries == 1 ? even_grain(tasks, time) : grain_for(time), [&](Index lo, Index hi) {
    BlocksMemory memory(p, false, 1);
    const BlockMemory m = memory.block(0);
    for (Index task = lo; task < hi; ++task) {
      const Index b = task / blocks / p.heads, h = task / blocks % p.heads, begin = task % blocks * block_rows;
      const Block at(p, b, h, begin, std::min(begin + block_rows, p.queries));
      const Kept of_block(p, kept, at);
      real* const to = y + ((b * p.queries + begin) * p.heads + h) * p.value_width;
      if (p.queries == 1 && !p.drops && !p.guarded && !weights && !dropped) {
        one_query(p, at, of_block, m, to);
        continue;
      }
      const kernels::AttentionBlock block = prepare(p, at, m);
      real* const w = p.keeps_weights ? of_block.weights : m.weights;
      kernels::table().attention_weights(block, scores_of(p, at, m), w, of_block.maxima, of_block.sums);
      if (weights) copy_block(p, at, w, weights);
      const real* const used = dropped_weights(p, at, m, w);
      if (dropped) copy_block(p, at, used, dropped);
      sum_keys(p, at, block, used, p.v, p.value_width, to, p.heads * p.value_width);
    }
  });
}

}  // namespace mote::detail
