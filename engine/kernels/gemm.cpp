// The blocked matrix product: loops over blocks, packing, the split over threads.
#include "engine/kernels/gemm.h"

#include <algorithm>
#include <cstring>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {
namespace {

constexpr Index block_rows = 112;         // block_rows x sum_block of A stays in the second-level cache
constexpr Index block_columns = 2048;     // sum_block x block_columns of B is packed once and shared by all threads
constexpr Index work_per_task = 1 << 17;  // multiply-adds below which waking a thread costs more than it saves

Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// Copies a [rows, k] block so that the tile reads it sequentially: panels of `width` rows, k slowest inside a panel,
/// missing rows as zeros. Packing B is the same with columns in place of rows.
void pack(const real* x, Index row, Index k_stride, Index rows, Index k, Index width, real* out) {
  for (Index r0 = 0; r0 < rows; r0 += width, out += width * k) {
    const Index here = std::min(width, rows - r0);
    const real* const panel = x + r0 * row;
    if (here == width && row == 1) {
      for (Index p = 0; p < k; ++p)
        std::memcpy(out + p * width, panel + p * k_stride, static_cast<std::size_t>(width) * sizeof(real));
    } else {
      for (Index r = 0; r < width; ++r)
        for (Index p = 0; p < k; ++p) out[p * width + r] = r < here ? panel[r * row + p * k_stride] : real(0);
    }
  }
}

/// One operand as the tiles read it: panel i (of the tile's rows or columns) starts at data + i * panel.
struct Panels {
  const real* data;
  Index panel, element, k;
};

struct Product {
  const Table& t;
  Index n, c_row;
  real* c;
  Into into;
};

/// The tiles of rows [0, rows) by columns [0, columns): columns outermost: a panel of B stays in cache for all rows.
void run_tiles(const Product& p, Index rows, Index columns, Index k, Panels a, Panels b, real* c) {
  for (Index j = 0, jp = 0; j < columns; j += p.t.tile_columns, ++jp)
    for (Index i = 0, ip = 0; i < rows; i += p.t.tile_rows, ++ip)
      p.t.gemm_tile(k, a.data + ip * a.panel, a.element, a.k, b.data + jp * b.panel, b.k, c + i * p.c_row + j, p.c_row,
                    std::min(p.t.tile_rows, rows - i), std::min(p.t.tile_columns, columns - j), p.into);
}

/// All rows of A times one packed or direct block of B [k, columns]. Tasks are blocks of rows, and of columns when
/// there are too few rows for all threads.
void run_block(const Product& p, Index m, Index columns, Index k, Matrix a, Panels b, bool pack_a) {
  const Index row_step = std::min(m, ceil_div(block_rows, p.t.tile_rows) * p.t.tile_rows);
  const Index row_tasks = ceil_div(m, row_step);
  const Index panels = ceil_div(columns, p.t.tile_columns);
  const Index wanted = std::min<Index>(4 * threads(), m * columns * k / work_per_task + 1);
  const Index column_tasks = std::clamp<Index>(wanted / row_tasks, 1, panels);
  const Index panel_step = ceil_div(panels, column_tasks);
  const Index tasks_across = ceil_div(panels, panel_step);
  const Index work = row_step * std::min(columns, panel_step * p.t.tile_columns) * k;
  parallel_for(row_tasks * tasks_across, std::max<Index>(1, work_per_task / work), [&](Index begin, Index end) {
    Storage packed;
    for (Index task = begin; task < end; ++task) {
      const Index i = task / tasks_across * row_step, jp = task % tasks_across * panel_step;
      const Index rows = std::min(row_step, m - i), j = jp * p.t.tile_columns;
      Panels ap{a.data + i * a.row, p.t.tile_rows * a.row, a.row, a.column};
      if (pack_a) {
        if (!packed) packed = Storage(static_cast<std::size_t>((row_step + p.t.tile_rows) * k) * sizeof(real));
        real* const out = static_cast<real*>(packed.data());
        pack(ap.data, a.row, a.column, rows, k, p.t.tile_rows, out);
        ap = {out, p.t.tile_rows * k, 1, p.t.tile_rows};
      }
      run_tiles(p, rows, std::min(columns - j, panel_step * p.t.tile_columns), k, ap,
                {b.data + jp * b.panel, b.panel, b.element, b.k}, p.c + i * p.c_row + j);
    }
  });
}

void add_bias(Index m, Index n, const real* bias, real* c, Index c_row) {
  for (Index i = 0; bias && i < m; ++i) table().add(c + i * c_row, 1, bias, 1, c + i * c_row, n);
}

}  // namespace

void gemm(Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row, const GemmOptions& options) {
  if (m == 0 || n == 0) return;
  if (k == 0) {
    for (Index i = 0; i < m && !options.resume; ++i) std::fill_n(c + i * c_row, n, real(0));
    return add_bias(m, n, options.bias, c, c_row);
  }
  const Table& t = table();
  const Index width = t.tile_columns;
  // The tile loads rows of B as vectors, so the columns of B must be adjacent; and B must be packed when its rows are
  // long, or every k would touch another page. A is only broadcast, so any strides work until the block outgrows the
  // cache.
  const bool pack_b = b.column != 1 || (m > 4 * t.tile_rows && k * n > 64 * 1024);
  const bool pack_a = n > 4 * width && k * std::min(m, block_rows) > 16 * 1024;
  Storage packed;
  for (Index j = 0; j < n; j += block_columns) {
    const Index columns = std::min(block_columns, n - j);
    for (Index p = 0, depth = 0; p < k; p += depth) {
      depth = std::min(sum_block - (options.first_k + p) % sum_block, k - p);
      const real* const block = b.data + p * b.row + j * b.column;
      Panels bp{block, width, 1, b.row};
      if (pack_b) {
        if (!packed)
          packed = Storage(
              static_cast<std::size_t>(ceil_div(std::min(n, block_columns), width) * width * std::min(k, sum_block)) *
              sizeof(real));
        real* const out = static_cast<real*>(packed.data());
        parallel_for(ceil_div(columns, width), std::max<Index>(1, 16 * 1024 / (width * depth)),
                     [&](Index lo, Index hi) {
                       pack(block + lo * width * b.column, b.column, b.row, std::min(hi * width, columns) - lo * width,
                            depth, width, out + lo * width * depth);
                     });
        bp = {out, width * depth, 1, width};
      }
      const Product product{t, n, c_row, c + j, p > 0 ? Into::add : options.resume ? Into::resume : Into::set};
      run_block(product, m, columns, depth, {a.data + p * a.column, a.row, a.column}, bp, pack_a);
    }
  }
  add_bias(m, n, options.bias, c, c_row);
}

}  // namespace mote::kernels
