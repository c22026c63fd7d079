// The matrix product, computed in blocks that fit the caches, and its split over threads.
#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {
namespace {

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// One matrix product with its optional bias.
struct Product {
  const Table& t;
  Index m, n, k;
  Matrix a, b;
  real* c;
  Index c_row;
  const real* bias;
};

/// A region of C: rows [i, i_end) and columns [j, j_end).
struct Region {
  Index i, i_end, j, j_end;
};

/// Describes the product of a region over one block of k, which begins at p. A and B are not packed.
inline TileBlock block_of(const Product& x, const Region& r, Index p) {
  const Index depth = std::min(sum_block, x.k - p);
  return {.rows = r.i_end - r.i,
          .columns = r.j_end - r.j,
          .k = depth,
          .a = x.a.data + r.i * x.a.row + p * x.a.column,
          .a_row = x.a.row,
          .a_k = x.a.column,
          .b = x.b.data + p * x.b.row + r.j * x.b.column,
          .b_k = x.b.row,
          .c = x.c + r.i * x.c_row + r.j,
          .c_row = x.c_row,
          .bias = x.bias && p + depth == x.k ? x.bias + r.j : nullptr,
          .add = p > 0};
}
/// Makes `block` read packed panels of B. The first panel begins at `b`.
inline void set_panels(TileBlock& block, const real* b, Index width, Index panel) {
  block.b = b;
  block.b_k = block.width = width;
  block.b_panel = panel;
}

// Which matrices to pack.

constexpr Index cached_b = 64 * 1024;  // elements of packed B that stay in the L2 cache while all of A is read
constexpr Index most_columns = 1024;   // most columns of B to pack at a time, reached if k is short
constexpr Index wide = 2048;           // columns of B that are multiplied by the same packed A
constexpr Index most_rows = 1024;      // most rows of A to pack at a time
constexpr Index slack = 16;            // packing may write up to one Vec beyond the end

/// Whether to pack B. Tiles load rows of B as vectors, so B must be packed if the elements of a row are not adjacent
/// in memory. B is also packed if it outgrows the L1 cache and many rows of A are multiplied by it, because a packed
/// panel lies in few pages and spreads evenly over the sets of the cache.
bool packs_b(const Product& x) { return x.b.column != 1 || (x.m > 100 && std::min(x.k, sum_block) * x.n > 24 * 1024); }

/// Whether to pack A. Tiles broadcast single elements of A, so A may have any strides. But cache lines that lie whole
/// pages apart compete for a few sets of the cache and evict each other. So A is packed if its rows lie whole pages
/// apart and a tile has more rows than a cache set has lines. A is also packed if its columns lie whole pages apart
/// and several short tiles read the same cache lines one after the other.
bool packs_a(const Product& x) {
  constexpr Index page = 4096 / sizeof(real), half_line = 32 / sizeof(real);
  const bool tall_tiles = x.t.gemm_rows > half_line;
  const Index adjacent = tall_tiles ? x.a.column : x.a.row, apart = tall_tiles ? x.a.row : x.a.column;
  return adjacent == 1 && apart % page == 0 && x.n >= 128 && x.k > 1;
}

/// The number of columns of B to pack at a time, a multiple of the panel width.
Index columns_at_once(const Product& x, Index columns, Index width) {
  const Index fit = std::min(cached_b / std::min(x.k, sum_block), most_columns) / width;
  return std::min(std::max<Index>(1, fit), ceil_div(columns, width)) * width;
}

/// Memory for n packed elements. A small number of elements is stored in the object itself, and so on the stack. If n
/// is 0, the pointer is null.
class Packed {
 public:
  explicit Packed(Index n) {
    if (n > small) many_ = Storage(static_cast<std::size_t>(n + slack) * sizeof(real));
    data_ = n > small ? static_cast<real*>(many_.data()) : n > 0 ? few_ : nullptr;
  }
  Packed(const Packed&) = delete;
  operator real*() const { return data_; }

 private:
  static constexpr Index small = 4096;
  alignas(64) real few_[small + slack];
  Storage many_;
  real* data_;
};

/// Computes the product for k = 0, which is zeros plus the bias.
void empty_sum(const Product& x) {
  for (Index i = 0; i < x.m; ++i) {
    real* const c = x.c + i * x.c_row;
    std::fill_n(c, x.n, real(0));
    if (x.bias) x.t.add(c, 1, x.bias, 1, c, x.n);
  }
}

/// Computes a region, one block of k after the other. `a` is null, or memory for packing A. For each block of k, A is
/// packed once for all columns of the region. `b` is null, or memory for packing B in panels of `width` columns. B is
/// packed `step` columns at a time.
void run_blocks(const Product& x, const Region& r, Index step, Index width, real* a, real* b) {
  for (Index p = 0; p < x.k; p += sum_block) {
    TileBlock rows = block_of(x, r, p);
    if (a) x.t.gemm_pack_rows(rows, a);
    for (Index j = r.j; j < r.j_end; j += step) {
      TileBlock block = block_of(x, {r.i, r.i_end, j, std::min(j + step, r.j_end)}, p);
      block.a = rows.a;
      block.a_row = rows.a_row;
      block.a_panel = rows.a_panel;
      if (b && !a && x.b.column == 1) {
        block.copy = b;  // the kernel packs B into this memory while it multiplies
      } else if (b) {
        x.t.gemm_pack(block.b, x.b.row, x.b.column, block.k, block.columns, width, width * block.k, b);
        set_panels(block, b, width, width * block.k);
      }
      x.t.gemm_tiles(block);
    }
  }
}

/// Computes a region, which may be empty.
void run(const Product& x, const Region& r) {
  if (r.i >= r.i_end || r.j >= r.j_end) return;
  if (x.k == 0) return empty_sum(x);
  const bool a_packed = packs_a(x), b_packed = packs_b(x);
  const Index rows = r.i_end - r.i, columns = r.j_end - r.j, depth = std::min(x.k, sum_block);
  const Index width = x.t.gemm_width(rows), step = b_packed ? columns_at_once(x, columns, width) : columns;
  const Index share = a_packed ? std::max<Index>(1, wide / step) * step : step;
  const Index down = a_packed ? ceil_div(rows, ceil_div(rows, most_rows)) : rows;
  const Packed a(a_packed ? (down + down / x.t.gemm_rows + 1) * (depth + 16) : 0), b(b_packed ? step * depth : 0);
  for (Index i = r.i; i < r.i_end; i += down)
    for (Index j = r.j; j < r.j_end; j += share)
      run_blocks(x, {i, std::min(i + down, r.i_end), j, std::min(j + share, r.j_end)}, step, width, a, b);
}

// The split over threads.

constexpr double multiply_add_ns = 1.0 / 32;
constexpr Index worth_a_task = grain_for(multiply_add_ns);  // in multiply-adds

/// C cut into `down` by `across` equal regions. The last regions may be smaller or empty.
struct Parts {
  Index down, across;
  Index count() const { return down * across; }
  Region region(const Product& x, Index number) const {
    const Index row_step = ceil_div(x.m, down), column_step = ceil_div(ceil_div(x.n, across), 16) * 16;
    const Index i = number % down * row_step, j = number / down * column_step;
    return {i, std::min(i + row_step, x.m), j, std::min(j + column_step, x.n)};
  }
};

/// Cuts C into about `wanted` parts. Usually the rows are cut, as in other loops, so that each thread works on rows
/// that are in its cache. But every part packs all of the B that it needs. If the rows are too few to pay for this
/// packing, the columns are cut instead.
Parts split(const Product& x, Index wanted) {
  const bool few_rows = wanted > 1 && packs_b(x) && x.m < 192 * wanted;
  const Index across = few_rows ? std::clamp<Index>(x.n / 32, 1, wanted) : 1;
  return {std::clamp<Index>(wanted / across, 1, ceil_div(x.m, 8)), across};
}

/// Computes the blocks of k as separate products in parallel, and then adds these products in order. In the gradient
/// of a weight, k counts the rows of a batch, so each thread reads rows that are in its cache.
void run_blocks_apart(const Product& x, const GemmBatch& batch) {
  const Index blocks = ceil_div(x.k, sum_block), size = x.m * x.n, across = std::clamp<Index>(x.n / 32, 1, 4);
  // The product of each block is cut into 3 or 4 parts, so that no thread waits long although the last block may be
  // short.
  const Parts parts{4 / across, across};
  const Storage memory(static_cast<std::size_t>(blocks * size) * sizeof(real));
  real* const sums = static_cast<real*>(memory.data());
  const double task_ns = static_cast<double>(size / parts.count() * sum_block) * multiply_add_ns;
  parallel_for(blocks * parts.count(), grain_for(task_ns), [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index block = task / parts.count(), p = block * sum_block;
      Product one{x.t, x.m, x.n, std::min(sum_block, x.k - p), x.a, x.b, sums + block * size, x.n, nullptr};
      one.a.data += batch.a[0] + p * x.a.column;
      one.b.data += batch.b[0] + p * x.b.row;
      run(one, parts.region(x, task % parts.count()));
    }
  });
  parallel_for(x.m, grain_for(static_cast<double>(blocks * x.n) * 0.1), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) {
      real* const c = x.c + i * x.c_row;
      real* const row = sums + i * x.n;
      std::copy_n(row, x.n, c);
      for (Index block = 1; block < blocks; ++block) x.t.add(c, 1, row + block * size, 1, c, x.n);
    }
  });
}

/// Computes the products of a batch in parallel tasks. `x` describes every product apart from its offsets, which are
/// in `batch`. There are a few tasks per thread in case one thread is delayed, but no more tasks than are worth
/// starting. If there are fewer products than tasks, each product is split.
void run_in_tasks(const Product& x, const GemmBatch& batch) {
  const Index work = std::max<Index>(1, x.m * x.n * x.k), most = threads();
  const Index worth = most == 1 ? 1 : work * batch.count / worth_a_task;
  const Index wanted = worth < 4 * most ? std::min(worth, most) : 2 * most;
  const Parts parts = split(x, ceil_div(wanted, batch.count));
  // Separate products of the blocks of k pay off if these products are small beside A and B. All of them together may
  // have at most 2^24 elements, which limits the memory.
  const bool few_sums = 2 * x.m * x.n <= (x.m + x.n) * sum_block && work <= sum_block << 24;
  if (wanted > 1 && batch.count == 1 && x.k > sum_block && !x.bias && few_sums) return run_blocks_apart(x, batch);
  const double task_ns = static_cast<double>(work) * multiply_add_ns;
  const Index grain = worth <= 1 ? batch.count : parts.count() > 1 ? 1 : grain_for(task_ns);
  parallel_for(batch.count * parts.count(), grain, [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index at = task / parts.count();
      Product one = x;
      one.a.data += batch.a[at];
      one.b.data += batch.b[at];
      one.c += at * batch.c;
      run(one, parts.region(x, task % parts.count()));
    }
  });
}

/// Not inlined into gemm(), because a small product would then save registers that only this function needs.
[[gnu::noinline]] void run_one(Index m, Index n, Index k, const Matrix& a, const Matrix& b, real* c, Index c_row,
                               const real* bias) {
  const Product x{table(), m, n, k, a, b, c, c_row, bias};
  const Index first = 0;
  if (m * n * k < worth_a_task) return run(x, {0, m, 0, n});
  run_in_tasks(x, {1, &first, &first, 0});
}

constinit thread_local std::span<const PackedWeight> packed_weights = {};
// Where find_packed() starts its search. Weights are used in a fixed order, so the first candidate is usually the
// right one.
constinit thread_local std::size_t next_packed = 0;

/// Finds B among the packed weights of the innermost UsePacked (gemm.h). Returns null if B is not among them, or if A
/// or C is not contiguous.
[[gnu::noinline]] const PackedWeight* find_packed(Index m, Index n, Index k, const Matrix& a, const Matrix& b,
                                                  Index c_row) {
  const bool rows = a.column == 1 && (m == 1 || a.row == k) && c_row == n;
  if (!rows || k == 0 || b.row != 1 || b.column != k) return nullptr;
  for (std::size_t i = 0; i < packed_weights.size(); ++i) {
    if (next_packed >= packed_weights.size()) next_packed = 0;
    const PackedWeight& w = packed_weights[next_packed++];
    if (w.w == b.data && w.n == n && w.k == k && w.width == packed_width(n)) return &w;
  }
  return nullptr;
}

}  // namespace

UsePacked::UsePacked(std::span<const PackedWeight> weights) : outer_(packed_weights) { packed_weights = weights; }
UsePacked::~UsePacked() { packed_weights = outer_; }

void gemm(Index m, Index n, Index k, const Matrix& a, const Matrix& b, real* c, Index c_row, const real* bias) {
  if (m == 0 || n == 0) return;
  if (m <= UsePacked::most_rows && !packed_weights.empty()) [[unlikely]]
    if (const PackedWeight* const w = find_packed(m, n, k, a, b, c_row)) return multiply_packed(m, a.data, *w, bias, c);
  // Most products of a small model take this path. They are one task with one block of k, and neither A nor B is
  // packed.
  if (b.column == 1 && k > 0 && k <= sum_block && m * n * k < worth_a_task) {
    const Product x{table(), m, n, k, a, b, c, c_row, bias};
    x.t.gemm_tiles(block_of(x, {0, m, 0, n}, 0));
  } else {
    run_one(m, n, k, a, b, c, c_row, bias);
  }
}

void gemm_batch(const GemmBatch& batch, Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row) {
  if (m > 0 && n > 0 && batch.count > 0) run_in_tasks({table(), m, n, k, a, b, c, c_row, nullptr}, batch);
}

Index packed_width(Index n) { return std::min(table().gemm_width(1), ceil_div(n, 16) * 16); }

Index packed_numel(Index n, Index k) {
  const Index width = packed_width(n);
  return ceil_div(n, width) * width * k;
}

PackedWeight pack_weight(Index n, Index k, const real* w, real* panels) {
  const Index width = packed_width(n), panel = width * k, count = ceil_div(n, width);
  const double nanoseconds = static_cast<double>(panel) / 4;
  parallel_for(count, grain_for(nanoseconds), [&](Index lo, Index hi) {
    const Index j = lo * width;
    table().gemm_pack(w + j * k, 1, k, k, std::min(hi * width, n) - j, width, panel, panels + lo * panel);
  });
  return {w, n, k, width, panels};
}

void multiply_packed(Index m, const real* a, const PackedWeight& w, const real* bias, real* c) {
  const Product x{table(), m, w.n, w.k, {a, w.k, 1}, {w.panels, w.width, 1}, c, w.n, bias};
  const Index panel = w.width * w.k, panels = ceil_div(w.n, w.width);
  Index rows = 1;  // rows of A at a time: the most for which tiles are as wide as for a single row
  while (rows < m && x.t.gemm_width(rows + 1) == x.t.gemm_width(1)) ++rows;
  // Panels are read at about 50 bytes per nanosecond, and a few rows of A hardly slow this down.
  const double nanoseconds = static_cast<double>(ceil_div(m, rows) * panel) * sizeof(real) / 50;
  parallel_for(panels, even_grain(panels, nanoseconds), [&](Index lo, Index hi) {
    for (Index at = lo; at < hi; at += 2)  // two panels, which a tile of one row reads at the same time
      for (Index i = 0; i < m; i += rows)
        for (Index p = 0; p < w.k; p += sum_block) {
          const Index j = at * w.width, j_end = std::min(std::min(at + 2, hi) * w.width, w.n);
          TileBlock block = block_of(x, {i, std::min(i + rows, m), j, j_end}, p);
          set_panels(block, w.panels + at * panel + p * w.width, w.width, panel);
          x.t.gemm_tiles(block);
        }
  });
}

}  // namespace mote::kernels
