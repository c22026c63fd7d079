// The matrix product on pointers and strides, and by a weight that is packed once for many of them.
#pragma once

#include <span>

#include "engine/base/real.h"

namespace mote::kernels {

/// A matrix in memory: element (i, j) is data[i * row + j * column]. A transpose swaps the two strides.
struct Matrix {
  const real* data;
  Index row, column;
};

/// Long sums are cut into blocks of this length: a chain of half a million additions would lose three digits, and one
/// in float would stop growing at 2^24. The length is part of the promise of equal bits.
constexpr Index sum_block = 512;

/// C = A B with A [m, k], B [k, n] of any strides and C [m, n] contiguous in each row (row stride c_row).
/// k is cut into blocks of sum_block. A block's sum is one chain of fused multiply-adds
/// over ascending k, starting from zero; an element of C is the sum of its blocks, added in order. So it has the same
/// bits for any instruction set and number of threads, and for any values in the other rows of A. k = 0 gives zeros.
/// The bias [n], if there is one, is added to every row of C once, after the last k.
void gemm(Index m, Index n, Index k, const Matrix& a, const Matrix& b, real* c, Index c_row,
          const real* bias = nullptr);

/// Products of equal shapes: those of number i begin a[i], b[i] and i * c elements after the given pointers.
struct GemmBatch {
  Index count;
  const Index *a, *b;
  Index c;
};
/// All products of a batch as one job for the threads.
void gemm_batch(const GemmBatch& batch, Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row);

/// A weight W [n, k] in the order in which products of a few rows read it: panels of `width` outputs, each [k, width].
/// Owns nothing.
struct PackedWeight {
  const real* w;  ///< what it was made of
  Index n, k, width;
  const real* panels;
};
/// The width of the panels under the table in use: whole vectors of 16, so that packing writes nothing beyond a panel.
Index packed_width(Index n);
/// Elements of all panels.
Index packed_numel(Index n, Index k);
/// Packs w [n, k], contiguous.
PackedWeight pack_weight(Index n, Index k, const real* w, real* panels);
/// C = A W^T + bias: A [m, k] and C [m, n], contiguous; bias [n] or null; k at least 1. The bits of gemm(). Meant
/// for few rows: W is read once for every three or more rows of A.
void multiply_packed(Index m, const real* a, const PackedWeight& w, const real* bias, real* c);

/// During its lifetime, gemm() of a few rows by the transpose of one of these weights is multiply_packed(), for this
/// thread: the same bits, at the speed of memory. A row at a time would otherwise pack W again for every row. The
/// weights, their numbers and their panels must stay as they are meanwhile. Of nested ones the innermost is used.
class UsePacked {
 public:
  [[nodiscard]] explicit UsePacked(std::span<const PackedWeight> weights);
  ~UsePacked();
  UsePacked(const UsePacked&) = delete;
  /// Rows that count as few.
  static constexpr Index most_rows = 8;

 private:
  const std::span<const PackedWeight> outer_;
};

}  // namespace mote::kernels
