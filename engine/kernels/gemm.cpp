// The matrix product: blocks that fit the caches, and the split over threads.
#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {
namespace {

constexpr Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

/// One product, its options included.
struct Product {
  const Table& t;
  Index m, n, k;
  Matrix a, b;
  real* c;
  Index c_row;
  const real* bias;
};

/// Rows [i, i_end) by columns [j, j_end) of C, with all of k.
struct Region {
  Index i, i_end, j, j_end;
};

/// A region for the block of k that begins at p, with A and B as they lie in memory.
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
/// Lets it read packed panels of B, of which the first begins at b.
inline void set_panels(TileBlock& block, const real* b, Index width, Index panel) {
  block.b = b;
  block.b_k = block.width = width;
  block.b_panel = panel;
}

// What to pack.

constexpr Index cached_b = 64 * 1024;  // elements of packed B that stay in the second-level cache while all of A passes
constexpr Index most_columns = 1024;   // of packed B at a time, where k is short
constexpr Index wide = 2048;           // columns that share a packed A
constexpr Index most_rows = 1024;      // of a packed A
constexpr Index slack = 16;            // packing may write one Vec too far

/// The tiles load rows of B as vectors, so the columns of B must be adjacent; and where many rows of A pass over a B
/// that outgrows the first-level cache, its panels are copied so that they lie in few pages and sets of the cache.
bool packs_b(const Product& x) { return x.b.column != 1 || (x.m > 100 && std::min(x.k, sum_block) * x.n > 24 * 1024); }

/// A is only broadcast, so any strides do. But lines of memory that lie whole pages apart share a few sets of the
/// caches and do not stay there. So A is worth a copy if its rows lie like that and a tile has more rows than a set has
/// lines, or if its columns do and several short tiles read the same lines one after the other.
bool packs_a(const Product& x) {
  constexpr Index page = 4096 / sizeof(real), half_line = 32 / sizeof(real);
  const bool tall_tiles = x.t.gemm_rows > half_line;
  const Index adjacent = tall_tiles ? x.a.column : x.a.row, apart = tall_tiles ? x.a.row : x.a.column;
  return adjacent == 1 && apart % page == 0 && x.n >= 128 && x.k > 1;
}

/// How many columns of B to pack at a time, in whole panels.
Index columns_at_once(const Product& x, Index columns, Index width) {
  const Index fit = std::min(cached_b / std::min(x.k, sum_block), most_columns) / width;
  return std::min(std::max<Index>(1, fit), ceil_div(columns, width)) * width;
}

/// Room for n packed elements, on the stack if they are few; null for none.
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

/// k = 0: zeros and the bias.
void empty_sum(const Product& x) {
  for (Index i = 0; i < x.m; ++i) {
    real* const c = x.c + i * x.c_row;
    std::fill_n(c, x.n, real(0));
    if (x.bias) x.t.add(c, 1, x.bias, 1, c, x.n);
  }
}

/// One block of k after the other. If not null, `a` is for a copy of A, for all columns of the region, and `b` for
/// panels of `width` columns of B, `step` columns at a time.
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
        block.copy = b;  // while it is multiplied
      } else if (b) {
        x.t.gemm_pack(block.b, x.b.row, x.b.column, block.k, block.columns, width, width * block.k, b);
        set_panels(block, b, width, width * block.k);
      }
      x.t.gemm_tiles(block);
    }
  }
}

/// Computes a region; nothing if it is empty.
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
constexpr Index worth_a_task = grain_for(multiply_add_ns);  // multiply-adds

/// Equal parts of C, of which the last ones may be empty.
struct Parts {
  Index down, across;
  Index count() const { return down * across; }
  Region region(const Product& x, Index number) const {
    const Index row_step = ceil_div(x.m, down), column_step = ceil_div(ceil_div(x.n, across), 16) * 16;
    const Index i = number % down * row_step, j = number / down * column_step;
    return {i, std::min(i + row_step, x.m), j, std::min(j + column_step, x.n)};
  }
};

/// About `wanted` parts. They are parts of the rows, as those of other loops are, so that each thread works on rows
/// that it has in its cache. But every part packs all of B that it multiplies: where the rows are too few to pay for
/// that, they are parts of the columns.
Parts split(const Product& x, Index wanted) {
  const bool few_rows = wanted > 1 && packs_b(x) && x.m < 192 * wanted;
  const Index across = few_rows ? std::clamp<Index>(x.n / 32, 1, wanted) : 1;
  return {std::clamp<Index>(wanted / across, 1, ceil_div(x.m, 8)), across};
}

/// The blocks of k as products of their own, side by side, which are then added in order. Where k counts the rows of a
/// batch, as in a weight's gradient, each thread so reads the rows that it has in its cache.
void run_blocks_apart(const Product& x, const GemmBatch& batch) {
  const Index blocks = ceil_div(x.k, sum_block), size = x.m * x.n, across = std::clamp<Index>(x.n / 32, 1, 4);
  const Parts parts{4 / across, across};  // of each: a few tasks per thread, and the last block may be short
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

/// The products x shifted by `batch`, in tasks: as many as are worth their start, and a few per thread in case one of
/// them is held up. If there are fewer products than that, each is split.
void run_in_tasks(const Product& x, const GemmBatch& batch) {
  const Index work = std::max<Index>(1, x.m * x.n * x.k), most = threads();
  const Index worth = most == 1 ? 1 : work * batch.count / worth_a_task;
  const Index wanted = worth < 4 * most ? std::min(worth, most) : 2 * most;
  const Parts parts = split(x, ceil_div(wanted, batch.count));
  const bool few_sums = 2 * x.m * x.n <= (x.m + x.n) * sum_block && work <= sum_block << 24;  // beside A, B; in 64 MiB
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

/// Apart from gemm(), or a small product would save the registers that this one needs.
[[gnu::noinline]] void run_one(Index m, Index n, Index k, const Matrix& a, const Matrix& b, real* c, Index c_row,
                               const real* bias) {
  const Product x{table(), m, n, k, a, b, c, c_row, bias};
  const Index first = 0;
  if (m * n * k < worth_a_task) return run(x, {0, m, 0, n});
  run_in_tasks(x, {1, &first, &first, 0});
}

constinit thread_local std::span<const PackedWeight> packed_weights = {};
constinit thread_local std::size_t next_packed = 0;  // a model asks for its weights in the same order every time

/// B packed by whoever has opened a UsePacked; null if it is not among them, or A or C are no whole rows.
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
  // Most products of a small model: one task, one block of the sum, B as it lies.
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
  Index rows = 1;  // of A at a time: as many as tiles of a single row's width can have
  while (rows < m && x.t.gemm_width(rows + 1) == x.t.gemm_width(1)) ++rows;
  // Panels are read at some 50 bytes a nanosecond, which a few rows hardly slow down.
  const double nanoseconds = static_cast<double>(ceil_div(m, rows) * panel) * sizeof(real) / 50;
  parallel_for(panels, even_grain(panels, nanoseconds), [&](Index lo, Index hi) {
    for (Index at = lo; at < hi; at += 2)  // as many as a tile of one row reads at a time
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
