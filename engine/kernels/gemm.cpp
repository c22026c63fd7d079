// The blocked matrix product: whether B is packed, blocks that fit the cache, the split over threads.
#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {
namespace {

constexpr Index cached_b = 96 * 1024;  // elements of packed B that stay in the second-level cache while all of A passes
constexpr Index small_b = 4096;        // elements of packed B that fit the stack
constexpr Index slack = 16;            // gemm_pack may write one Vec too far
constexpr Index multiply_adds_per_ns = 32;

Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// One product, its options included.
struct Product {
  const Table& t;
  Index n, k;
  Matrix a, b;
  real* c;
  Index c_row;
  const GemmOptions& options;
};

/// Rows [i, i_end) by columns [j, j_end) of C, with all of k.
struct Region {
  Index i, i_end, j, j_end;
};

/// A block as the tiles see it, from k = p on and column j on, B as it lies in memory.
TileBlock block_of(const Product& x, const Region& r, Index p, Index j, Index columns) {
  const Index k = std::min(sum_block - (x.options.first_k + p) % sum_block, x.k - p),
              width = x.t.gemm_width(r.i_end - r.i);
  return {.rows = r.i_end - r.i,
          .columns = columns,
          .k = k,
          .width = width,
          .a = x.a.data + r.i * x.a.row + p * x.a.column,
          .a_row = x.a.row,
          .a_k = x.a.column,
          .b = x.b.data + p * x.b.row + j * x.b.column,
          .b_k = x.b.row,
          .b_panel = width,
          .c = x.c + r.i * x.c_row + j,
          .c_row = x.c_row,
          .bias = x.options.bias && p + k == x.k ? x.options.bias + j : nullptr,
          .into = p > 0              ? Into::add
                  : x.options.resume ? Into::resume
                                     : Into::set};
}

/// B as it lies in memory.
void run_direct(const Product& x, const Region& r) {
  for (Index p = 0; p < x.k;) {
    const TileBlock block = block_of(x, r, p, r.j, r.j_end - r.j);
    x.t.gemm_tiles(block);
    p += block.k;
  }
}

/// B packed, as many columns at a time as the cache holds.
void run_packed(const Product& x, const Region& r, real* packed, Index step) {
  for (Index j = r.j; j < r.j_end; j += step)
    for (Index p = 0; p < x.k;) {
      TileBlock block = block_of(x, r, p, j, std::min(step, r.j_end - j));
      x.t.gemm_pack(block.b, x.b.row, x.b.column, block.k, block.columns, block.width, packed);
      block.b = packed, block.b_k = block.width, block.b_panel = block.width * block.k;
      x.t.gemm_tiles(block);
      p += block.k;
    }
}

void run_packed(const Product& x, const Region& r) {
  const Index depth = std::min(x.k, sum_block), width = x.t.gemm_width(r.i_end - r.i);
  const Index step = std::min(std::max<Index>(1, cached_b / (depth * width)), ceil_div(r.j_end - r.j, width)) * width;
  if (step * depth + slack <= small_b) {
    alignas(64) real packed[small_b];
    return run_packed(x, r, packed, step);
  }
  const Storage packed(static_cast<std::size_t>(step * depth + slack) * sizeof(real));
  run_packed(x, r, static_cast<real*>(packed.data()), step);
}

/// The tiles load rows of B as vectors, so the columns of B must be adjacent; and where many rows of A pass over a B that
/// outgrows the first-level cache, its panels are copied so that they lie in few pages and sets of the cache. A is only
/// broadcast: any strides do.
bool packs(Index m, Index n, Index k, const Matrix& b) {
  return b.column != 1 || (m > 56 && std::min(k, sum_block) * n > 16 * 1024);
}

/// k = 0: zeros, or C as it is, and the bias.
void empty_sum(Index m, Index n, real* c, Index c_row, const GemmOptions& options) {
  for (Index i = 0; i < m; ++i, c += c_row) {
    if (!options.resume) std::fill_n(c, n, real(0));
    if (options.bias) table().add(c, 1, options.bias, 1, c, n);
  }
}

}  // namespace

void gemm(Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row, const GemmOptions& options) {
  if (m == 0 || n == 0) return;
  if (k == 0) return empty_sum(m, n, c, c_row, options);
  const Product x{table(), n, k, a, b, c, c_row, options};
  const bool packed = packs(m, n, k, b);
  const auto run = [&](const Region& r) { packed ? run_packed(x, r) : run_direct(x, r); };
  const double ns = static_cast<double>(m * n) * static_cast<double>(k) / multiply_adds_per_ns;
  if (ns < 8000) return run({0, m, 0, n});
  // As many tasks as are worth their start, and a few per thread, in case one of them is held up. They get equal parts
  // of the columns if B is packed, so that each packs its own, else of the rows.
  const Index worth = static_cast<Index>(ns / 5000), most = threads();
  const Index wanted = most == 1 ? 1 : worth < 4 * most ? std::min(worth, most) : 2 * most;
  const Index across = packed ? std::clamp<Index>(n / 32, 1, wanted) : 1,
              down = std::min(wanted / across, ceil_div(m, 8));
  const Index column_step = ceil_div(ceil_div(n, across), 16) * 16, row_step = ceil_div(m, down);
  parallel_for(down * across, 1, [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index i = task % down * row_step, j = task / down * column_step;
      if (i < m && j < n) run({i, std::min(i + row_step, m), j, std::min(j + column_step, n)});
    }
  });
}

}  // namespace mote::kernels
