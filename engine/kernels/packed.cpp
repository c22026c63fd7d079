// Packing, and the loop over panels.
#include "engine/kernels/packed.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/kernels/gemm.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {
namespace {

constexpr Index lanes = 16;

Index panels(Index n) { return (n + panel_columns - 1) / panel_columns; }
/// The width in memory of a panel with `columns` outputs.
Index padded(Index columns) { return (columns + lanes - 1) / lanes * lanes; }

}  // namespace

Index packed_numel(Index n, Index k) { return (n / panel_columns * panel_columns + padded(n % panel_columns)) * k; }

void pack_weight(Index n, Index k, const real* w, Index row, real* packed) {
  constexpr Index step = 64 / static_cast<Index>(sizeof(real));  // a cache line of each output at a time
  parallel_for(panels(n), grain_for(0.5 * static_cast<double>(panel_columns * k)), [&](Index lo, Index hi) {
    for (Index j = lo * panel_columns; j < std::min(n, hi * panel_columns); j += panel_columns) {
      const Index columns = std::min(panel_columns, n - j), width = padded(columns);
      real* const panel = packed + j * k;
      for (Index p0 = 0; p0 < k; p0 += step) {
        const Index end = std::min(k, p0 + step);
        for (Index c = 0; c < columns; ++c)
          for (Index p = p0; p < end; ++p) panel[p * width + c] = w[(j + c) * row + p];
        for (Index p = p0; p < end; ++p) std::fill(panel + p * width + columns, panel + (p + 1) * width, real(0));
      }
    }
  });
}

void multiply_packed(Index m, Index n, Index k, const real* a, Index a_row, const real* packed, const real* bias,
                     real* c, Index c_row) {
  const auto gemv = table().gemv;
  // A panel is read at some 50 bytes a nanosecond, and a few rows cost no more than that.
  const double nanoseconds = static_cast<double>((1 + m / 4) * panel_columns * k) * sizeof(real) / 50;
  parallel_for(panels(n), grain_for(nanoseconds), [&](Index lo, Index hi) {
    for (Index j = lo * panel_columns; j < std::min(n, hi * panel_columns); j += panel_columns) {
      const Index columns = std::min(panel_columns, n - j);
      gemv(m, columns, k, sum_block, a, a_row, packed + j * k, padded(columns), bias ? bias + j : nullptr, c + j,
           c_row);
    }
  });
}

}  // namespace mote::kernels
