// Products of a few rows: B is read once, in order, so its bytes are what they cost.
#pragma once

#include "engine/kernels/target/simd.h"

namespace mote {
namespace {

/// The operands; kernels.h says what they mean.
struct FewRows {
  Index k, block;
  const real* a;
  Index a_row;
  const real* b;
  Index b_k;
  const real* bias;
  real* c;
  Index c_row;
};

/// Registers that hold sums: enough chains of multiply-adds to hide their latency, with some left for B.
#if defined(MOTE_TARGET_AVX512) || defined(MOTE_TARGET_NEON)
constexpr int sum_registers = 16;
#else
constexpr int sum_registers = 8;
#endif
constexpr int vec_registers = Vec::lanes / Reg::lanes;

/// Rows [0, rows) and columns [0, 16 vecs), or with `edge` the first `columns` of 16.
template <int rows, int vecs, bool edge>
MOTE_INLINE void multiply_few(const FewRows& p, Index columns) {
  const auto load = [&](const real* at) { return edge ? Vec::load_first(at, columns) : Vec::load(at); };
  const auto store = [&](Vec v, real* at) { edge ? v.store_first(at, columns) : v.store(at); };
  for (Index first = 0; first < p.k; first += p.block) {
    const Index end = p.k - first < p.block ? p.k : first + p.block;
    Vec sum[rows][vecs];
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r)
#pragma GCC unroll 16
      for (int v = 0; v < vecs; ++v) sum[r][v] = Vec::zero();
    for (Index i = first; i < end; ++i) {
      Vec b[vecs];
#pragma GCC unroll 16
      for (int v = 0; v < vecs; ++v) b[v] = load(p.b + i * p.b_k + v * Vec::lanes);
#pragma GCC unroll 16
      for (int r = 0; r < rows; ++r) {
        const Vec x(p.a[r * p.a_row + i]);
#pragma GCC unroll 16
        for (int v = 0; v < vecs; ++v) sum[r][v] = fma(x, b[v], sum[r][v]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 16
      for (int v = 0; v < vecs; ++v) {
        real* const c = p.c + r * p.c_row + v * Vec::lanes;
        Vec total = first == 0 ? sum[r][v] : load(c) + sum[r][v];
        if (p.bias && end == p.k) total += load(p.bias + v * Vec::lanes);
        store(total, c);
      }
    }
  }
}

/// The first `rows` rows, as many columns at a time as there are registers for.
template <int rows>
void multiply_rows_of_few(FewRows p, Index columns) {
  constexpr int fit = sum_registers / (rows * vec_registers), vecs = fit < 1 ? 1 : fit > 4 ? 4 : fit;
  const auto next = [&p](Index n) { p.b += n, p.c += n, p.bias += p.bias ? n : 0; };
  Index left = columns;
  for (; left >= vecs * Vec::lanes; left -= vecs * Vec::lanes, next(vecs * Vec::lanes))
    multiply_few<rows, vecs, false>(p, 0);
  for (; left >= Vec::lanes; left -= Vec::lanes, next(Vec::lanes)) multiply_few<rows, 1, false>(p, 0);
  if (left > 0) multiply_few<rows, 1, true>(p, left);
}

void gemv(Index rows, Index columns, Index k, Index block, const real* a, Index a_row, const real* b, Index b_k,
          const real* bias, real* c, Index c_row) {
  FewRows p{k, block, a, a_row, b, b_k, bias, c, c_row};
  const auto next = [&](Index n) { p.a += n * a_row, p.c += n * c_row, rows -= n; };
  for (; rows >= 4; next(4)) multiply_rows_of_few<4>(p, columns);
  if (rows >= 2) multiply_rows_of_few<2>(p, columns), next(2);
  if (rows == 1) multiply_rows_of_few<1>(p, columns);
}

}  // namespace
}  // namespace mote
