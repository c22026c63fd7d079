// The matrix product on pointers and strides, and the product by a weight that is packed once for many products.
#pragma once

#include <span>

#include "engine/base/real.h"

namespace mote::kernels {

/// A matrix in memory: element (i, j) is data[i * row + j * column]. A transpose swaps the two strides.
struct Matrix {
  const real* data;
  Index row, column;
};

/// The length of the blocks into which long sums are cut. A single chain of half a million additions would lose three
/// digits, and a float sum of ones would stop growing at 2^24. The length is the same on every machine, because the
/// bits of a result depend on it.
constexpr Index sum_block = 512;

/// C = A B with A [m, k], B [k, n] of any strides and C [m, n] contiguous in each row (row stride c_row). k is cut
/// into blocks of sum_block. A block's sum is one chain of fused multiply-adds over ascending k, starting from zero;
/// an element of C is the sum of its blocks, added in order. So an element has the same bits for any instruction set
/// and number of threads, and for any values in the other rows of A. If k is 0, the sum is 0. The bias [n], if there
/// is one, is added to every row of C once, after the last block.
void gemm(Index m, Index n, Index k, const Matrix& a, const Matrix& b, real* c, Index c_row,
          const real* bias = nullptr);

/// Matrix products of equal shapes. For product i the offsets of A, B and C from the pointers that are given to
/// gemm_batch() are a[i], b[i] and i * c, in elements.
struct GemmBatch {
  Index count;
  const Index *a, *b;
  Index c;
};
/// Computes all products of a batch in parallel.
void gemm_batch(const GemmBatch& batch, Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row);

/// A weight W [n, k], rearranged into the order in which a product of a few rows reads it. It consists of panels of
/// `width` outputs, each [k, width]. The struct owns no memory.
struct PackedWeight {
  const real* w;  ///< the weight before packing
  Index n, k, width;
  const real* panels;
};
/// The width of the panels of a weight with n outputs, for the kernel table in use. The width is a whole number of
/// registers, so packing writes nothing beyond a panel.
Index packed_width(Index n);
/// The number of elements that all panels of a weight [n, k] have together, with the padding of the last panel.
Index packed_numel(Index n, Index k);
/// Packs the contiguous weight w [n, k] into `panels`, which must have room for packed_numel(n, k) elements.
PackedWeight pack_weight(Index n, Index k, const real* w, real* panels);
/// C = A W^T + bias with A [m, k] and C [m, n] contiguous, bias [n] or null, and k at least 1. The bits are those of
/// gemm(). The function is meant for few rows of A, because all of W is read again for every 2 to 7 rows of A,
/// depending on the instruction set.
void multiply_packed(Index m, const real* a, const PackedWeight& w, const real* bias, real* c);

/// While a UsePacked lives, gemm() on this thread calls multiply_packed() for every product A W^T whose A has few rows
/// and whose W is one of the given weights. The bits are the same. Without a UsePacked, products of one row at a time
/// would pack W again for every row. The weights, their elements and their panels must not change meanwhile. If scopes
/// nest, only the innermost one counts.
class UsePacked {
 public:
  [[nodiscard]] explicit UsePacked(std::span<const PackedWeight> weights);
  ~UsePacked();
  UsePacked(const UsePacked&) = delete;
  /// The largest number of rows of A that counts as few.
  static constexpr Index most_rows = 8;

 private:
  const std::span<const PackedWeight> outer_;
};

}  // namespace mote::kernels
