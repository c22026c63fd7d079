// Weights in the order in which a product of a few rows reads them.
#pragma once

#include "engine/base/real.h"

namespace mote::kernels {

/// Columns of a panel: four cache lines of every k.
constexpr Index panel_columns = 256 / static_cast<Index>(sizeof(real));

/// Elements of a weight [n, k] in panels of `panel_columns` outputs: panel by panel, in each [k, outputs]. The last
/// panel has only the outputs that are left, rounded up to whole vectors, whose missing ones are zeros.
Index packed_numel(Index n, Index k);
/// Packs w, whose output j begins at w + j * row.
void pack_weight(Index n, Index k, const real* w, Index row, real* packed);

/// C = A W^T + bias: A [m, k] with adjacent columns, W packed, bias [n] or null, C [m, n]. The bits of gemm(): k in
/// blocks of sum_block. For a few rows, up to about 8; every row beyond the fourth reads W from the cache again.
void multiply_packed(Index m, Index n, Index k, const real* a, Index a_row, const real* packed, const real* bias,
                     real* c, Index c_row);

}  // namespace mote::kernels
