// The blocked matrix product: whether B is packed, blocks that fit the cache, the split over threads.
#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {
namespace {

constexpr Index cached_b = 64 * 1024;  // elements of packed B that stay in the second-level cache while all of A passes
constexpr Index most_columns = 1024;   // of these, where k is short
constexpr Index wide = 2048;           // columns that share a packed A
constexpr Index most_rows = 1024;      // of a packed A
constexpr double multiply_add_ns = 1.0 / 32;
constexpr Index worth_a_task = grain_for(multiply_add_ns);  // multiply-adds

Index ceil_div(Index a, Index b) { return (a + b - 1) / b; }

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

/// Rows of C by the block of k that begins at p, A and B as they lie in memory; of which columns is still open.
inline TileBlock block_of(const Product& x, const Region& r, Index p) {
  return {.rows = r.i_end - r.i,
          .columns = 0,
          .k = std::min(sum_block, x.k - p),
          .width = 0,
          .a = x.a.data + r.i * x.a.row + p * x.a.column,
          .b = nullptr,
          .c = nullptr,
          .bias = nullptr,
          .a_row = x.a.row,
          .b_k = x.b.row,
          .a_k = x.a.column,
          .b_panel = 0,
          .c_row = x.c_row,
          .add = p > 0};
}

/// The tiles load rows of B as vectors, so the columns of B must be adjacent; and where many rows of A pass over a B that
/// outgrows the first-level cache, its panels are copied so that they lie in few pages and sets of the cache.
bool packs_b(const Product& x) { return x.b.column != 1 || (x.m > 100 && std::min(x.k, sum_block) * x.n > 24 * 1024); }

/// A is only broadcast, so any strides do. But where it is transposed, its rows are whole pages apart and several narrow
/// tiles share each line, these lines fall into a few sets of both caches and do not stay there; then A is worth a copy.
/// A wide tile uses most of a line at once and leaves little to save.
bool packs_a(const Product& x) {
  constexpr Index page = 4096 / sizeof(real), half_line = 32 / sizeof(real);
  return x.t.gemm_rows <= half_line && x.a.row == 1 && x.a.column % page == 0 && x.n >= 128 && x.k > 1;
}

/// Room for n packed elements, on the stack if they are few; null for none.
class Packed {
 public:
  explicit Packed(Index n) {
    if (n > small) many_ = Storage(static_cast<std::size_t>(n + slack) * sizeof(real));
    data_ = n > small ? static_cast<real*>(many_.data()) : n > 0 ? few_ : nullptr;
  }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  operator real*() const { return data_; }

 private:
  static constexpr Index small = 4096, slack = 16;  // gemm_pack may write one Vec too far
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

/// A packed once for all columns of the region, unless `a` is null; B packed `step` columns at a time in panels of
/// `width`, unless `b` is.
void run_blocks(const Product& x, const Region& r, Index step, Index width, real* a, real* b) {
  for (Index p = 0; p < x.k; p += sum_block) {
    TileBlock block = block_of(x, r, p);
    if (a) x.t.gemm_pack_rows(block, a);
    for (Index j = r.j; j < r.j_end; j += step) {
      block.b = x.b.data + p * x.b.row + j * x.b.column, block.columns = std::min(step, r.j_end - j);
      block.c = x.c + r.i * x.c_row + j, block.bias = x.bias && p + block.k == x.k ? x.bias + j : nullptr;
      if (b) {
        x.t.gemm_pack(block.b, x.b.row, x.b.column, block.k, block.columns, width, b);
        block.b = b, block.width = block.b_k = width, block.b_panel = width * block.k;
      }
      x.t.gemm_tiles(block);
    }
  }
}

void run(const Product& x, const Region& r) {
  if (x.k == 0) return empty_sum(x);
  const bool a_packed = packs_a(x), b_packed = packs_b(x);
  const Index rows = r.i_end - r.i, columns = r.j_end - r.j, depth = std::min(x.k, sum_block);
  const Index width = x.t.gemm_width(rows), fit = std::max<Index>(1, std::min(cached_b / depth, most_columns) / width);
  const Index step = b_packed ? std::min(fit, ceil_div(columns, width)) * width : columns;
  const Index share = a_packed ? std::max<Index>(1, wide / step) * step : step;
  const Index down = a_packed ? ceil_div(rows, ceil_div(rows, most_rows)) : rows;
  const Packed a(a_packed ? down * (depth + 16) : 0), b(b_packed ? step * depth : 0);
  for (Index i = r.i; i < r.i_end; i += down)
    for (Index j = r.j; j < r.j_end; j += share)
      run_blocks(x, {i, std::min(i + down, r.i_end), j, std::min(j + share, r.j_end)}, step, width, a, b);
}

/// The products x shifted by `batch`, in tasks: as many as are worth their start, and a few per thread in case one of
/// them is held up. If there are fewer products than that, each is split into equal parts: of its rows, as other loops
/// are, so that each thread works on the rows that it has in its cache; but of its columns if B is packed and the rows
/// are too few to pay for packing all of it in every task.
void run_in_tasks(const Product& x, const GemmBatch& batch) {
  const Index work = std::max<Index>(1, x.m * x.n * x.k), most = threads();
  const Index worth = most == 1 ? 1 : work * batch.count / worth_a_task;
  const Index wanted = worth < 4 * most ? std::min(worth, most) : 2 * most, parts = ceil_div(wanted, batch.count);
  constexpr Index many_rows = 192;
  const Index across = parts > 1 && packs_b(x) && x.m < many_rows * parts ? std::clamp<Index>(x.n / 32, 1, parts) : 1;
  const Index down = std::clamp<Index>(parts / across, 1, ceil_div(x.m, 8));
  const Index column_step = ceil_div(ceil_div(x.n, across), 16) * 16, row_step = ceil_div(x.m, down);
  const Index grain = worth <= 1          ? batch.count
                      : down * across > 1 ? 1
                                          : grain_for(static_cast<double>(work) * multiply_add_ns);
  parallel_for(batch.count * down * across, grain, [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index at = task / (down * across), part = task % (down * across);
      const Index i = part % down * row_step, j = part / down * column_step;
      if (i >= x.m || j >= x.n) continue;
      Product one = x;
      one.a.data += batch.a[at], one.b.data += batch.b[at], one.c += at * batch.c;
      run(one, {i, std::min(i + row_step, x.m), j, std::min(j + column_step, x.n)});
    }
  });
}

}  // namespace

void gemm(Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row, const real* bias) {
  if (m == 0 || n == 0) return;
  // Most products of a small model: one task, one block of the sum, B as it lies.
  if (b.column == 1 && k > 0 && k <= sum_block && m * n * k < worth_a_task)
    return table().gemm_tiles({m, n, k, 0, a.data, b.data, c, bias, a.row, b.row, a.column, 0, c_row, false});
  const Product x{table(), m, n, k, a, b, c, c_row, bias};
  const Index first = 0;
  run_in_tasks(x, {1, &first, &first, 0});
}

void gemm_batch(const GemmBatch& batch, Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row) {
  if (m > 0 && n > 0 && batch.count > 0) run_in_tasks({table(), m, n, k, a, b, c, c_row, nullptr}, batch);
}

}  // namespace mote::kernels
