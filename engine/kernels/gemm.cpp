// The blocked matrix product: whether B is packed, blocks that fit the cache, the split over threads.
#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"
#include "engine/kernels/kernels.h"

namespace mote::kernels {
namespace {

constexpr Index cached_b = 96 * 1024;  // elements of packed B that stay in the second-level cache while all of A passes
constexpr Index most_columns = 1024;   // of these, where k is short
constexpr Index small_b = 4096;        // elements of packed B that fit the stack
constexpr Index shared_b = 1 << 20;    // elements of packed B that all threads read
constexpr Index slack = 16;            // gemm_pack may write one Vec too far
constexpr double multiply_add_ns = 1.0 / 32, pack_ns = 0.3;
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

/// The block of k that begins at p, from column j on, B as it lies in memory.
inline TileBlock block_of(const Product& x, const Region& r, Index p, Index j, Index columns) {
  const Index k = std::min(sum_block, x.k - p);
  return {.rows = r.i_end - r.i,
          .columns = columns,
          .k = k,
          .width = 0,
          .a = x.a.data + r.i * x.a.row + p * x.a.column,
          .b = x.b.data + p * x.b.row + j * x.b.column,
          .c = x.c + r.i * x.c_row + j,
          .bias = x.bias && p + k == x.k ? x.bias + j : nullptr,
          .a_row = x.a.row,
          .b_k = x.b.row,
          .a_k = x.a.column,
          .b_panel = 0,
          .c_row = x.c_row,
          .add = p > 0};
}

inline void run_direct(const Product& x, const Region& r) {
  for (Index p = 0; p < x.k;) {
    const TileBlock block = block_of(x, r, p, r.j, r.j_end - r.j);
    x.t.gemm_tiles(block);
    p += block.k;
  }
}

/// `step` columns of B at a time, as many as the cache holds, packed in panels of `width`.
void run_packed(const Product& x, const Region& r, real* packed, Index step, Index width) {
  for (Index j = r.j; j < r.j_end; j += step)
    for (Index p = 0; p < x.k;) {
      TileBlock block = block_of(x, r, p, j, std::min(step, r.j_end - j));
      x.t.gemm_pack(block.b, x.b.row, x.b.column, block.k, block.columns, width, packed);
      block.b = packed, block.width = block.b_k = width, block.b_panel = width * block.k;
      x.t.gemm_tiles(block);
      p += block.k;
    }
}
/// How many columns of B to take at a time, in whole panels.
Index columns_at_once(const Product& x, Index columns, Index width) {
  const Index fit = std::min(cached_b / std::min(x.k, sum_block), most_columns) / width;
  return std::min(std::max<Index>(1, fit), ceil_div(columns, width)) * width;
}

void run_packed(const Product& x, const Region& r) {
  const Index depth = std::min(x.k, sum_block), width = x.t.gemm_width(r.i_end - r.i);
  const Index step = columns_at_once(x, r.j_end - r.j, width);
  if (step * depth + slack <= small_b) {
    alignas(64) real packed[small_b];
    return run_packed(x, r, packed, step, width);
  }
  const Storage packed(static_cast<std::size_t>(step * depth + slack) * sizeof(real));
  run_packed(x, r, static_cast<real*>(packed.data()), step, width);
}

/// The tiles load rows of B as vectors, so the columns of B must be adjacent; and where many rows of A pass over a B that
/// outgrows the first-level cache, its panels are copied so that they lie in few pages and sets of the cache. A is only
/// broadcast: any strides do.
bool packs(const Product& x) { return x.b.column != 1 || (x.m > 100 && std::min(x.k, sum_block) * x.n > 24 * 1024); }

/// k = 0: zeros and the bias.
void empty_sum(const Product& x) {
  for (Index i = 0; i < x.m; ++i) {
    real* const c = x.c + i * x.c_row;
    std::fill_n(c, x.n, real(0));
    if (x.bias) x.t.add(c, 1, x.bias, 1, c, x.n);
  }
}

void run(const Product& x, const Region& r) {
  if (r.i >= r.i_end || r.j >= r.j_end) return;
  if (x.k == 0) return empty_sum(x);
  packs(x) ? run_packed(x, r) : run_direct(x, r);
}

/// Part of B, [p, p_end) by columns [j, j_end), packed by all threads together: block of k after block, each in panels.
class SharedB {
 public:
  SharedB(const Product& x, Index rows, Index columns, Index width)
      : x_(x),
        width_(width),
        columns_(columns),
        memory_(static_cast<std::size_t>(rows * columns + slack) * sizeof(real)) {}

  void pack(Index p, Index p_end, Index j, Index j_end) {
    p_ = p, j_ = j;
    const Index step = ceil_div(slice, width_) * width_, slices = ceil_div(j_end - j, step);
    const double nanoseconds = static_cast<double>(std::min(x_.k, sum_block) * step) * pack_ns;
    parallel_for(slices * ceil_div(p_end - p, sum_block), grain_for(nanoseconds), [&](Index lo, Index hi) {
      for (Index i = lo; i < hi; ++i) {
        const Index row = p + i / slices * sum_block, column = j + i % slices * step;
        x_.t.gemm_pack(x_.b.data + row * x_.b.row + column * x_.b.column, x_.b.row, x_.b.column, depth(row),
                       std::min(step, j_end - column), width_, at(row, column));
      }
    });
  }
  /// `tiles`, whose B begins at p and j, from the panels.
  TileBlock with_panels(TileBlock tiles, Index p, Index j) const {
    tiles.b = at(p, j), tiles.width = tiles.b_k = width_, tiles.b_panel = width_ * tiles.k;
    return tiles;
  }

 private:
  static constexpr Index slice = 192;  // columns that are packed together: each row of B may lie in another page
  Index depth(Index p) const { return std::min(sum_block, x_.k - p); }
  real* at(Index p, Index j) const {
    return static_cast<real*>(memory_.data()) + (p - p_) * columns_ + (j - j_) * depth(p);
  }
  const Product& x_;
  Index width_, columns_, p_ = 0, j_ = 0;
  Storage memory_;
};

/// In tasks of `row_step` rows that share B, which is packed once.
void run_shared(const Product& x, Index row_step) {
  const Index depth = std::min(x.k, 8 * sum_block), width = x.t.gemm_width(row_step);
  const Index columns = std::min(std::max<Index>(1, shared_b / depth / width), ceil_div(x.n, width)) * width;
  const Index step = columns_at_once(x, columns, width);
  SharedB b(x, depth, columns, width);
  for (Index j = 0; j < x.n; j += columns)
    for (Index p = 0; p < x.k; p += depth) {
      const Index j_end = std::min(j + columns, x.n), p_end = std::min(p + depth, x.k);
      b.pack(p, p_end, j, j_end);
      parallel_for(ceil_div(x.m, row_step), 1, [&](Index lo, Index hi) {
        const Region r{lo * row_step, std::min(hi * row_step, x.m), j, j_end};
        for (Index at = j; at < j_end; at += step)
          for (Index block = p; block < p_end; block += sum_block)
            x.t.gemm_tiles(b.with_panels(block_of(x, r, block, at, std::min(step, j_end - at)), block, at));
      });
    }
}

/// One of the equal parts of C, `down` by `across`, of which the last ones may be empty.
Region part_of(const Product& x, Index down, Index across, Index number) {
  const Index row_step = ceil_div(x.m, down), column_step = ceil_div(ceil_div(x.n, across), 16) * 16;
  const Index i = number % down * row_step, j = number / down * column_step;
  return {i, std::min(i + row_step, x.m), j, std::min(j + column_step, x.n)};
}

/// Whether the sums of all blocks of k together are few beside the elements of A and B.
bool few_sums(const Product& x) {
  return x.k > sum_block && 2 * x.m * x.n * ceil_div(x.k, sum_block) <= (x.m + x.n) * x.k;
}

/// The blocks of k as products of their own, side by side, whose results are then added in order. Where k counts the rows
/// of a batch, as in a weight's gradient, each thread so reads the rows that it has in its cache.
void run_blocks_apart(const Product& x) {
  constexpr Index parts = 4;  // of a block: a few tasks per thread, and the last block may be short
  const Index blocks = ceil_div(x.k, sum_block), across = std::clamp<Index>(x.n / 32, 1, parts), down = parts / across;
  const Storage memory(static_cast<std::size_t>(blocks * x.m * x.n) * sizeof(real));
  real* const sums = static_cast<real*>(memory.data());
  const double task_ns = static_cast<double>(x.m * x.n / (across * down) * sum_block) * multiply_add_ns;
  parallel_for(blocks * across * down, grain_for(task_ns), [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index block = task / (across * down), p = block * sum_block;
      Product one = x;
      one.a.data += p * x.a.column, one.b.data += p * x.b.row, one.k = std::min(sum_block, x.k - p);
      one.c = sums + block * x.m * x.n, one.c_row = x.n, one.bias = nullptr;
      run(one, part_of(x, down, across, task % (across * down)));
    }
  });
  parallel_for(x.m, grain_for(static_cast<double>(blocks * x.n) * 0.1), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) {
      real *const c = x.c + i * x.c_row, *const first = sums + i * x.n;
      x.t.add(first, 1, first + x.m * x.n, 1, c, x.n);
      for (Index block = 2; block < blocks; ++block) x.t.add(c, 1, first + block * x.m * x.n, 1, c, x.n);
      if (x.bias) x.t.add(c, 1, x.bias, 1, c, x.n);
    }
  });
}

/// The products x shifted by `batch`, in tasks: as many as are worth their start, and a few per thread in case one of
/// them is held up. If there are fewer products than that, each is split into equal parts: of its rows, as other loops
/// are, so that each thread works on the rows that it has in its cache; but of its columns if B is packed and the rows
/// are too few to pay for packing all of it in every task; and a B that outgrows the second-level cache is packed once for
/// all tasks.
void run_in_tasks(const Product& x, const GemmBatch& batch) {
  const Index work = std::max<Index>(1, x.m * x.n * x.k), most = threads();
  const Index worth = most == 1 ? 1 : work * batch.count / worth_a_task;
  const Index wanted = worth < 4 * most ? std::min(worth, most) : 2 * most, parts = ceil_div(wanted, batch.count);
  constexpr Index many_rows = 192;
  const Index across = parts > 1 && packs(x) && x.m < many_rows * parts ? std::clamp<Index>(x.n / 32, 1, parts) : 1;
  const Index down = std::clamp<Index>(parts / across, 1, ceil_div(x.m, 8));
  if (batch.count == 1 && parts > 1 && few_sums(x)) return run_blocks_apart(x);
  if (batch.count == 1 && down > 1 && across == 1 && packs(x) && x.n * x.k > cached_b)
    return run_shared(x, ceil_div(x.m, down));
  const Index grain = worth <= 1          ? batch.count
                      : down * across > 1 ? 1
                                          : grain_for(static_cast<double>(work) * multiply_add_ns);
  parallel_for(batch.count * down * across, grain, [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index at = task / (down * across);
      Product one = x;
      one.a.data += batch.a[at], one.b.data += batch.b[at], one.c += at * batch.c;
      run(one, part_of(x, down, across, task % (down * across)));
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
