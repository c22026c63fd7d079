// A region of a product: whether A and B are packed, and blocks that fit the cache.
#include "engine/kernels/gemm_region.h"

#include <algorithm>

#include "engine/base/storage.h"

namespace mote::kernels {
namespace {

constexpr Index most_columns = 1024;  // of packed B at a time, where k is short
constexpr Index wide = 2048;          // columns that share a packed A
constexpr Index most_rows = 1024;     // of a packed A
constexpr Index page = 4096 / sizeof(real);
constexpr Index apart = 16;  // elements between the panels, or rows, of a packed A

/// Room for n packed elements, on the stack if they are few; null for none.
class Packed {
 public:
  explicit Packed(Index n) {
    if (n > small) many_ = Storage(static_cast<std::size_t>(n + pack_slack) * sizeof(real));
    data_ = n > small ? static_cast<real*>(many_.data()) : n > 0 ? few_ : nullptr;
  }
  Packed(const Packed&) = delete;
  Packed& operator=(const Packed&) = delete;
  operator real*() const { return data_; }

 private:
  static constexpr Index small = 4096;
  alignas(64) real few_[small + pack_slack];
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

/// Whether rows of A lie whole pages apart, so that all rows of a tall tile share one set of the first-level cache.
bool spreads_a(const Product& x) {
  return x.t.gemm_rows > 8 && x.a.column == 1 && x.a.row % page == 0 && x.n >= 128 && x.k > 1;
}

/// Copies these rows to `out`, an odd number of lines apart, from which the block then reads them.
void spread_rows(TileBlock& block, real* out) {
  const Index row = block.k + apart;
  for (Index i = 0; i < block.rows; ++i) std::copy_n(block.a + i * block.a_row, block.k, out + i * row);
  block.a = out, block.a_row = row;
}

/// A packed once for all columns of the region, unless `a` is null; B packed `step` columns at a time in panels of
/// `width`, unless `b` is: by the first row of tiles, if its columns are adjacent.
void run_blocks(const Product& x, const Region& r, Index step, Index width, real* a, real* b) {
  for (Index p = 0; p < x.k; p += sum_block) {
    TileBlock block = block_of(x, r, p);
    if (a && spreads_a(x))
      spread_rows(block, a);
    else if (a)
      x.t.gemm_pack_rows(block, a);
    for (Index j = r.j; j < r.j_end; j += step) {
      set_columns(block, x, r, p, j, std::min(step, r.j_end - j));
      if (b && !a && x.b.column == 1) {
        block.copy = b;
      } else if (b) {
        x.t.gemm_pack(block.b, x.b.row, x.b.column, block.k, block.columns, width, b);
        set_panels(block, b, width);
      }
      x.t.gemm_tiles(block);
    }
  }
}

}  // namespace

Index columns_at_once(const Product& x, Index columns, Index width) {
  const Index fit = std::min(cached_b / std::min(x.k, sum_block), most_columns) / width;
  return std::min(std::max<Index>(1, fit), ceil_div(columns, width)) * width;
}

/// The tiles load rows of B as vectors, so the columns of B must be adjacent; and where many rows of A pass over a B
/// that outgrows the first-level cache, its panels are copied so that they lie in few pages and sets of the cache.
bool packs_b(const Product& x) { return x.b.column != 1 || (x.m > 100 && std::min(x.k, sum_block) * x.n > 24 * 1024); }

/// A is only broadcast, so any strides do. But where it is transposed, its rows are whole pages apart and several
/// narrow tiles share each line, these lines fall into a few sets of both caches and do not stay there; then A is worth
/// a copy. A wide tile uses most of a line at once and leaves little to save.
bool packs_a(const Product& x) {
  constexpr Index half_line = 32 / sizeof(real);
  return x.t.gemm_rows <= half_line && x.a.row == 1 && x.a.column % page == 0 && x.n >= 128 && x.k > 1;
}

void run(const Product& x, const Region& r) {
  if (r.i >= r.i_end || r.j >= r.j_end) return;
  if (x.k == 0) return empty_sum(x);
  const bool a_packed = packs_a(x) || spreads_a(x), b_packed = packs_b(x);
  const Index rows = r.i_end - r.i, columns = r.j_end - r.j, depth = std::min(x.k, sum_block);
  const Index width = x.t.gemm_width(rows), step = b_packed ? columns_at_once(x, columns, width) : columns;
  const Index share = a_packed ? std::max<Index>(1, wide / step) * step : step;
  const Index down = a_packed ? ceil_div(rows, ceil_div(rows, most_rows)) : rows;
  const Packed a(a_packed ? down * (depth + apart) : 0), b(b_packed ? step * depth : 0);
  for (Index i = r.i; i < r.i_end; i += down)
    for (Index j = r.j; j < r.j_end; j += share)
      run_blocks(x, {i, std::min(i + down, r.i_end), j, std::min(j + share, r.j_end)}, step, width, a, b);
}

}  // namespace mote::kernels
