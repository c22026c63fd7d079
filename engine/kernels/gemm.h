// The matrix product on pointers and strides.
#pragma once

#include "engine/base/real.h"

namespace mote::kernels {

/// A matrix in memory: element (i, j) is data[i * row + j * column]. A transpose swaps the two strides.
struct Matrix {
  const real* data;
  Index row, column;
};

/// C = A B with A [m, k], B [k, n] of any strides and C [m, n] contiguous in each row (row stride c_row).
/// Every element of C is one chain of fused multiply-adds over ascending k, starting from zero: the same bits for any
/// instruction set, number of threads and block size, and for any values in the other rows of A. k = 0 gives zeros.
/// With `resume` the chains continue from C's values: products over parts of k, in order, give the bits of the whole.
void gemm(Index m, Index n, Index k, Matrix a, Matrix b, real* c, Index c_row, bool resume = false);

}  // namespace mote::kernels
