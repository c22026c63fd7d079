// Packing, and the loop over panels.
#include "engine/kernels/packed.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {
namespace {

Index panel_count(Index n, Index width) { return (n + width - 1) / width; }

/// The most rows that panels as wide as those of a single row allow at a time.
Index rows_at_once(Index m) {
  const Table& t = table();
  Index rows = 1;
  while (rows < m && t.gemm_width(rows + 1) == t.gemm_width(1)) ++rows;
  return rows;
}

/// The outputs of `count` panels from column j on: all rows, `rows` at a time, all blocks of the sum.
void multiply_panels(Index m, Index rows, const real* a, const PackedWeight& w, Index j, Index count, const real* bias,
                     real* c) {
  const Table& t = table();
  for (Index i = 0; i < m; i += rows)
    for (Index p = 0; p < w.k; p += sum_block)
      t.gemm_tiles({.rows = std::min(rows, m - i),
                    .columns = std::min(count * w.width, w.n - j),
                    .k = std::min(sum_block, w.k - p),
                    .width = w.width,
                    .a = a + i * w.k + p,
                    .b = w.panels + j * w.k + p * w.width,
                    .c = c + i * w.n + j,
                    .bias = bias && p + sum_block >= w.k ? bias + j : nullptr,
                    .a_row = w.k,
                    .b_k = w.width,
                    .a_k = 1,
                    .b_panel = w.width * w.k,
                    .c_row = w.n,
                    .add = p > 0});
}

}  // namespace

Index packed_width(Index n) { return std::min(table().gemm_width(1), (n + 15) / 16 * 16); }

Index packed_numel(Index n, Index k) {
  const Index width = packed_width(n);
  return panel_count(n, width) * width * k;
}

PackedWeight pack_weight(Index n, Index k, const real* w, real* panels) {
  const Index width = packed_width(n), count = panel_count(n, width);
  const double nanoseconds = static_cast<double>(width * k) / 4;
  parallel_for(count, grain_for(nanoseconds), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) {
      const Index j = i * width;
      table().gemm_pack(w + j * k, 1, k, k, std::min(width, n - j), width, panels + j * k);
    }
  });
  return {n, k, width, panels};
}

void multiply_packed(Index m, const real* a, const PackedWeight& w, const real* bias, real* c) {
  const Index rows = rows_at_once(m);
  // Panels are read at some 50 bytes a nanosecond, which a few rows hardly slow down.
  const double nanoseconds = static_cast<double>((m + rows - 1) / rows * w.width * w.k) * sizeof(real) / 50;
  const Index panels = panel_count(w.n, w.width);
  parallel_for(panels, even_grain(panels, nanoseconds), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; i += 2)  // as many as a tile of one row reads at a time
      multiply_panels(m, rows, a, w, i * w.width, std::min<Index>(2, hi - i), bias, c);
  });
}

}  // namespace mote::kernels
