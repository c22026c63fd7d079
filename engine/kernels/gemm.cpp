// The matrix product's split over threads.
#include "engine/kernels/gemm.h"

#include <algorithm>

#include "engine/base/parallel.h"
#include "engine/base/storage.h"
#include "engine/kernels/gemm_region.h"

namespace mote::kernels {
namespace {

constexpr Index shared_b = 1 << 20;  // elements of packed B that all threads read
constexpr double multiply_add_ns = 1.0 / 32, pack_ns = 0.3;
constexpr Index worth_a_task = grain_for(multiply_add_ns);  // multiply-adds

/// Part of B, [p, p_end) by columns [j, j_end), packed by all threads together: block of k after block, each in panels.
class SharedB {
 public:
  SharedB(const Product& x, Index rows, Index columns, Index width)
      : x_(x),
        width_(width),
        columns_(columns),
        memory_(static_cast<std::size_t>(rows * columns + pack_slack) * sizeof(real)) {}

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
  const real* panels(Index p, Index j) const { return at(p, j); }

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
          for (Index q = p; q < p_end; q += sum_block) {
            TileBlock block = block_of(x, r, q);
            set_columns(block, x, r, q, at, std::min(step, j_end - at));
            set_panels(block, b.panels(q, at), width);
            x.t.gemm_tiles(block);
          }
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

/// The blocks of k as products of their own, side by side: the first becomes C, to which the others are then added in
/// order. Where k counts the rows of a batch, as in a weight's gradient, each thread so reads the rows that it has in
/// its cache.
void run_blocks_apart(const Product& x) {
  constexpr Index parts = 4;  // of a block: a few tasks per thread, and the last block may be short
  const Index blocks = ceil_div(x.k, sum_block), across = std::clamp<Index>(x.n / 32, 1, parts), down = parts / across;
  const Storage memory(static_cast<std::size_t>((blocks - 1) * x.m * x.n) * sizeof(real));
  real* const others = static_cast<real*>(memory.data());
  const double task_ns = static_cast<double>(x.m * x.n / (across * down) * sum_block) * multiply_add_ns;
  parallel_for(blocks * across * down, grain_for(task_ns), [&](Index lo, Index hi) {
    for (Index task = lo; task < hi; ++task) {
      const Index block = task / (across * down), p = block * sum_block;
      Product one = x;
      one.a.data += p * x.a.column, one.b.data += p * x.b.row, one.k = std::min(sum_block, x.k - p);
      if (block > 0) one.c = others + (block - 1) * x.m * x.n, one.c_row = x.n;
      one.bias = nullptr;
      run(one, part_of(x, down, across, task % (across * down)));
    }
  });
  parallel_for(x.m, grain_for(static_cast<double>(blocks * x.n) * 0.1), [&](Index lo, Index hi) {
    for (Index i = lo; i < hi; ++i) {
      real* const c = x.c + i * x.c_row;
      for (Index block = 1; block < blocks; ++block) x.t.add(c, 1, others + ((block - 1) * x.m + i) * x.n, 1, c, x.n);
      if (x.bias) x.t.add(c, 1, x.bias, 1, c, x.n);
    }
  });
}

/// The products x shifted by `batch`, in tasks: as many as are worth their start, and a few per thread in case one of
/// them is held up. If there are fewer products than that, each is split into equal parts: of its rows, as other loops
/// are, so that each thread works on the rows that it has in its cache; but of its columns if B is packed and the rows
/// are too few to pay for packing all of it in every task; and a transposed B that outgrows the second-level cache is
/// packed once for all tasks. Any other is copied while it is multiplied, which takes no time.
void run_in_tasks(const Product& x, const GemmBatch& batch) {
  const Index work = std::max<Index>(1, x.m * x.n * x.k), most = threads();
  const Index worth = most == 1 ? 1 : work * batch.count / worth_a_task;
  const Index wanted = worth < 4 * most ? std::min(worth, most) : 2 * most, parts = ceil_div(wanted, batch.count);
  constexpr Index many_rows = 192;
  const Index across = parts > 1 && packs_b(x) && x.m < many_rows * parts ? std::clamp<Index>(x.n / 32, 1, parts) : 1;
  const Index down = std::clamp<Index>(parts / across, 1, ceil_div(x.m, 8));
  if (batch.count == 1 && parts > 1 && few_sums(x)) return run_blocks_apart(x);
  if (batch.count == 1 && down > 1 && across == 1 && packs_b(x) && !packs_a(x) && x.b.column != 1 &&
      x.n * x.k > cached_b)
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

/// Apart from gemm(), or a small product would save the registers that this one needs.
[[gnu::noinline]] void run_one(Index m, Index n, Index k, const Matrix& a, const Matrix& b, real* c, Index c_row,
                               const real* bias) {
  const Product x{table(), m, n, k, a, b, c, c_row, bias};
  const Index first = 0;
  run_in_tasks(x, {1, &first, &first, 0});
}

}  // namespace

void gemm(Index m, Index n, Index k, const Matrix& a, const Matrix& b, real* c, Index c_row, const real* bias) {
  if (m == 0 || n == 0) return;
  // Most products of a small model: one task, one block of the sum, B as it lies.
  if (b.column == 1 && k > 0 && k <= sum_block && m * n * k < worth_a_task)
    table().gemm_tiles({m, n, k, 0, a.data, b.data, c, bias, a.row, b.row, a.column, 0, c_row, false});
  else
    run_one(m, n, k, a, b, c, c_row, bias);
}

void gemm_batch(const GemmBatch& batch, Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row) {
  if (m > 0 && n > 0 && batch.count > 0) run_in_tasks({table(), m, n, k, a, b, c, c_row, nullptr}, batch);
}

}  // namespace mote::kernels
